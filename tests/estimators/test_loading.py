"""`rw.load`: any saved model, by what its file says; and the names of the package."""

import pathlib

import pytest

import rankwood as rw


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost", "pairtree", "two-stage"])
def test_any_saved_model(demo_model, name, tmp_path):
    model, path, test = demo_model(name), tmp_path / "model.json", rw.load_demo("test")
    model.save(path)
    again = rw.load(path)
    assert type(again) is type(model)
    assert again.predict(test).tobytes() == model.predict(test).tobytes()
    assert rw.load(str(path)).get_params(deep=False).keys() == model.get_params(deep=False).keys()


def test_a_network(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    model = rw.NeuralRanker(epochs=1, hidden=(4,), n_jobs=1).fit(rw.load_demo("train"))
    model.save(tmp_path / "model.json")
    assert type(rw.load(tmp_path / "model.json")) is rw.NeuralRanker


def test_a_forest_and_a_checkpoint(demo_model, tmp_path):
    forest = demo_model("lightgbm").forest()
    forest.save(tmp_path / "forest.json")
    assert isinstance(rw.load(tmp_path / "forest.json"), rw.Forest)
    train, file = rw.load_demo("train"), tmp_path / "run.json"
    ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(train, checkpoint=file)
    assert rw.load(file).predict(train).tobytes() == ranker.predict(train).tobytes()


def test_what_is_no_model(tmp_path, demo_model):
    demo_model("lightgbm").booster_.save_model(tmp_path / "booster.txt")
    rw.save_letor(rw.load_demo("test"), tmp_path / "test.txt")
    for name, message in {
        "nowhere.json": "can't be read: No such file",
        ".": "can't be read: Is a directory",
        "booster.txt": "is a model of LightGBM itself",
        "test.txt": "is not a Rankwood model",
    }.items():
        with pytest.raises(rw.InputError, match=message):
            rw.load(tmp_path / name)
    for odd in (3, None):
        with pytest.raises(rw.InputError, match="path must be the name of a file"):
            rw.load(odd)


def test_the_package_lists_its_public_names_only():
    names = dir(rw)
    assert set(rw.__all__) <= set(names) and "Any" not in names and "import_module" not in names
    assert [name for name in names if name.startswith("_")] == ["__version__"]
    modules = {path.stem for path in pathlib.Path(rw.__file__).parent.iterdir()}
    assert set(names) - set(rw.__all__) <= modules
    assert all(hasattr(rw, name) for name in rw.__all__)
