"""The kernels for a GPU, on Numba's simulator; `benchmarks/gpu_check.py` compares all names on a real one."""

import ast
import inspect
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels.device import _describe, _device_number, is_device_array
from rankwood._kernels.each import runs_on_team
from rankwood._kernels.parts import PARTS
from rankwood._kernels.verbs import VERBS
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.labels import labels_and_groups
from rankwood.extend import each, on_team, part
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.oracle import interpreted
from tests.helpers.paths import ROOT as CHECKOUT
from tests.objectives.simulated_gpu import GROUP, PAIRS, SCORES, Y

ROOT = Path(rw.__file__).parent
#: One name for each way through the kernels.
NAMES = [
    "lambdarank-ndcg",
    "lambdarank-ndcg@2(norm=False)",
    "ranknet",
    "lambdaloss-ndcg++@2",
    "lambdarank-mrr",
    "lambdagap-s+@1",
    "lambdamart-ex-random@1",
    "yetirank(permutations=2)",
    "stochasticrank-ndcg",
    "softmax",
    "xendcg",
    "approxndcg",
    "ranknet-pairs",
    "rmse",
    "lambdaloss1(metric='mrr')",
    "lambdaloss2(metric='rbp@2')",
    "lambdaloss-ndcg@2(cut='weights')",
    "lambdagap-f@1",
    "yetiloss-dcg(neighbours=2, exact=True, permutations=2)",
]
FAR_APART = (100 * SCORES).tolist()
TASKS = [
    *({"kind": "shared", "name": name} for name in NAMES),
    {"kind": "global", "name": "lambdarank-ndcg"},
    {"kind": "global", "name": "lambdamart-ex-static@2"},
    {"kind": "global", "name": "listnet"},
    {"kind": "shared", "name": "lambdarank-ndcg", "scores": FAR_APART},
    {"kind": "shared", "name": "lambdarank-ndcg", "dtype": "float64"},
]
METRICS = ["ndcg@2", "dcg", "p@1", "recall@2", "mrr", "map", "ndcgcost", "lambdarankcost@2"]
TIED = [0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.5]
RULES = ("worst", "best", "input")
REFUSED = [
    ({"name": "ranknet", "scores": [0.0, 1.0], "dtype": "float32"}, "7 entries"),
    ({"name": "ranknet", "scores": [0] * 7, "dtype": "int32"}, "float32 or float64"),
    ({"name": "bi-ranknet", "scores": [0.0] * 7, "dtype": "float32"}, "pairs"),
]


@pytest.fixture(scope="module")
def simulated():
    """What the simulator says about all tasks, in one process."""
    metrics = {"kind": "evaluate", "metrics": METRICS, "scores": TIED}
    tasks = [
        *TASKS,
        *({**metrics, "ties": rule} for rule in RULES),
        *({"kind": "refuse", **task} for task, _ in REFUSED),
    ]
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("simulated_gpu.py")],
        input="\n".join(map(json.dumps, tasks)),
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answers = map(json.loads, done.stdout.splitlines())
    return {json.dumps(task): answer for task, answer in zip(tasks, answers, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task['kind']} {task['name']}")
def test_gradients_are_those_of_the_cpu(simulated, task):
    y, groups = labels_and_groups(Y, None, GROUP)
    scores = np.array(task.get("scores", SCORES), task.get("dtype", "float32"))
    with interpreted():
        options = {"dtype": np.float32, "seed": 3, "pairs": GivenPairs.of(PAIRS, groups)}
        cpu = GradientComputer(rw.objective(task["name"]), y, groups, **options)
        wanted = cpu(scores.astype(float), 2)
    got = simulated[json.dumps(task)]
    for have, want in zip(got, wanted, strict=True):
        assert np.abs(want).max() > 0
        np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * np.abs(want).max())


@pytest.mark.slow
@pytest.mark.parametrize("ties", RULES)
def test_metrics_are_those_of_the_cpu(simulated, ties):
    with interpreted():
        wanted = rw.evaluate(METRICS, Y, TIED, group=GROUP, ties=ties)
    got = simulated[
        json.dumps({"kind": "evaluate", "metrics": METRICS, "scores": TIED, "ties": ties})
    ]
    for metric in METRICS:
        np.testing.assert_allclose(got[metric], wanted.per_query[metric], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "words"), REFUSED)
def test_what_a_gpu_refuses(simulated, task, words):
    assert words in simulated[json.dumps({"kind": "refuse", **task})]


class OnAGpu:
    """An array that says it is on a GPU."""

    shape, dtype = (2,), np.dtype(np.float32)
    __cuda_array_interface__: ClassVar = {
        "shape": (2,),
        "typestr": "<f4",
        "data": (0, False),
        "version": 3,
    }


def test_without_a_gpu_there_is_a_sentence():
    # In a process of its own: another test may have a simulated GPU.
    code = (
        "import rankwood as rw\n"
        "from tests.objectives.test_cuda import OnAGpu\n"
        "for call in (lambda: rw.gradients('ranknet', [1, 0], OnAGpu()),\n"
        "             lambda: rw.evaluate('ndcg', [1, 0], OnAGpu())):\n"
        "    try: call()\n"
        "    except rw.InputError as error: print(error)\n"
    )
    path = f"{ROOT.parent}{os.pathsep}{CHECKOUT}"
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    env |= {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("rankwood[cuda]" in line or "NumPy arrays" in line for line in lines)


def test_arrays_of_the_host_are_not_on_a_gpu():
    for x in (np.zeros(2), [1.0], None, 3.0, "scores"):
        assert not is_device_array(x)
    assert is_device_array(OnAGpu())


def test_dlpack_tells_where_an_array_is():
    x = np.arange(6, dtype=np.float64)[::2]
    found = _describe(x).__cuda_array_interface__
    assert found["data"][0] == x.ctypes.data
    assert (found["shape"], found["strides"], found["typestr"]) == ((3,), (16,), "<f8")


def test_an_array_says_which_gpu_it_is_on():
    tensor = type("Tensor", (), {"__module__": "torch", "device": SimpleNamespace(index=1)})
    array = type("ndarray", (), {"__module__": "cupy", "device": SimpleNamespace(id=2)})
    assert [_device_number(x) for x in (tensor(), array(), OnAGpu())] == [1, 2, None]


@part
class SharesItsLoop:
    @on_team
    def perturb(self, score, draw, state, out):
        for i in each(score.size):
            out[i] = score[i]


@part
class KeepsItsLoop:
    def perturb(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i]


def test_a_verb_runs_on_a_team_if_it_is_declared():
    assert runs_on_team(SharesItsLoop(), ["perturb"])
    assert not runs_on_team(KeepsItsLoop(), ["perturb"])
    weights = {"lambdarank-ndcg": True, "lambdarank-map": False, "lambdaloss-ndcg++": True}
    for name, shares in weights.items():
        assert runs_on_team(rw.objective(name).weight, ["prepare", "swap_record"]) == shares, name
    for name, shares in {"softmax": True, "stochasticrank-ndcg": False}.items():
        assert runs_on_team(rw.objective(name), ["list_gradient"]) == shares, name


def stores_outside(function):
    """Return the lines of a function that store into an array, but not in a loop over `each` or `only`."""

    def visit(node, shared):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            shared = shared or getattr(node.iter.func, "id", "") in ("each", "only")
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and not shared:
            yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from visit(child, shared)

    return list(visit(function, False))


def called(method):
    """Yield a method and the functions of the package that it calls, but for verbs and the loops of a team."""
    yield method
    for name in method.__code__.co_names:
        inner = inspect.unwrap(method.__globals__.get(name, None) or len)
        inside = getattr(inner, "__module__", None) or ""
        ours = inside.startswith("rankwood.") and not inside.endswith(".each")
        if ours and inspect.isfunction(inner) and not hasattr(inner, "verb"):
            yield from called(inner)


def test_what_is_declared_for_a_team_stores_in_shared_loops_alone():
    classes = [cls for cls in PARTS.values() if cls.__module__.startswith("rankwood.")]
    methods = {verb.method(cls) for cls in classes for verb in VERBS.values()}
    declared = [method for method in methods if getattr(method, "on_team", False)]
    assert len(declared) > 15
    for method in declared:
        for function in called(method):
            text = textwrap.dedent(inspect.getsource(function))
            assert not stores_outside(ast.parse(text)), f"{method.__qualname__}: {function}"


def test_functions_that_share_a_loop_store_nowhere_else():
    seen = 0
    for folder in ("metrics", "objectives"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
                if isinstance(node, ast.FunctionDef) and "each" in names:
                    seen += 1
                    own = "visit_partners" in node.name
                    assert own or not stores_outside(node), f"{path.name}: {node.name}"
    assert seen > 15
    unsafe = ast.parse(inspect.getsource(KeepsItsLoop.perturb).strip()).body[0]
    assert stores_outside(unsafe)
