"""What must work without the large packages: tests of the rest are skipped where these aren't installed."""

import subprocess
import sys

PROGRAM = """
import sys
large = ("catboost dask distributed fastapi flaml httpx ir_measures jinja2 matplotlib mlflow onnx onnxruntime optuna "
         "pandas polars pyarrow pytrec_eval safetensors shap torch treelite xgboost").split()
class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in large:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import warnings
warnings.simplefilter("ignore")
import rankwood as rw
from rankwood.cli import main

train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
few = {"n_estimators": 3, "n_jobs": 1, "verbose": False}
ranker = rw.Ranker(**few).fit(train, valid=valid)
ranker.save("m.json")
scores = rw.Ranker.load("m.json").predict(test)
assert (ranker.scorer()(test) == scores).all()
ranker.explain(test).pair(0, 1)
ranker.export("m.c", format="c")
print(rw.compare({"one": rw.evaluate("ndcg@10", test, scores), "same": rw.evaluate("ndcg@10", test, scores)}))
rw.diagnose("lambdarank-ndcg@10", test.y[:9], scores[:9])
rw.Ranker("bi-ranknet", engine="pairtree", **few).fit(rw.make_ranking(5)).predict(rw.make_ranking(5))
rw.TwoStage(rw.Ranker(**few), rw.Ranker(**few), folds=2).fit(train).predict(test)
rw.save_letor(train, "train.txt")
for line in ("train train.txt --model n.json --n-estimators 3", "predict n.json train.txt --output s.txt",
             "evaluate train.txt n.json", "explain n.json train.txt", "card n.json", "objectives", "doctor"):
    assert main(line.split()) == 0, line
"""


def test_the_usual_things_need_no_large_package(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
