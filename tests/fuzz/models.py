"""Model files of all engines, changed by someone who computes the checksum anew.

What a file holds is JSON in JSON, LightGBM's lines or arrays in base64, and each is changed on its own level. The
binary model inside a file of CatBoost is left as it is: nothing here can check it (docs/security.md).
"""

import base64
import copy
import functools
import json
import os
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood._util import envelope
from rankwood.estimators.loading import estimator_class
from tests.fuzz import Wrong, damaged
from tests.helpers.paths import OLD_FILES

ALPHABET = b"0123456789-+.eE,:[]{}\"' \n=anti\x00\\u\xc3\xa9"
#: Numbers that are out of range somewhere, and values of other kinds.
NUMBERS = (
    *(0, 1, -1, 2, 3, -2, -5, 5, 7, 100, -200, 255, 1000, -5000, 10**6, -(10**8), 10**9, 2**31 - 1),
    *(
        2**31,
        -(2**31),
        2**32,
        2**62,
        2**63,
        -(2**63),
        2**70,
        10**30,
        0.5,
        -0.5,
        1e-300,
        1e300,
        1e39,
    ),
)
OTHERS = (
    None,
    True,
    False,
    "",
    "x",
    "0",
    "nan",
    [],
    {},
    [0],
    [[]],
    {"a": 1},
    float("nan"),
    float("inf"),
)
_OLD_PAIRS = OLD_FILES / "lightgbm_pairs_0.4.json"
_file = os.path.join(tempfile.gettempdir(), f"fuzz-model-{os.getpid()}.json")


def _data() -> rw.RankingData:
    """Return small data with two columns of categories."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 5)).round(2)
    X[:, 0] = rng.integers(0, 9, 120)
    X[:, 1] = rng.integers(0, 40, 120)
    y = np.clip((X[:, 2] + X[:, 0] / 4 + rng.normal(size=120) / 2).round(), 0, 4)
    return rw.RankingData(X, y, qid=np.arange(120) // 10)


def _rankers() -> dict[str, Any]:
    """Return a ranker of each kind of file, to be trained."""
    few = {"n_estimators": 3, "num_leaves": 6, "n_jobs": 1}
    trees = {**few, "min_child_samples": 2}
    sets = {
        "min_data_per_group": 2,
        "cat_smooth": 0.0,
        "max_cat_to_onehot": 1,
        "extra_trees": False,
    }
    pairs = "bi-lambdarank-ndcg@5"
    network = {"epochs": 1, "hidden": (4,), "n_jobs": 1, "verbose": False}
    return {
        "lightgbm": rw.Ranker(**trees),
        "lightgbm-categories": rw.Ranker(**trees, categorical_feature=[0, 1], **sets),
        "lightgbm-linear": rw.Ranker(**trees, linear_tree=True),
        "xgboost": rw.Ranker(engine="xgboost", **few),
        "xgboost-categories": rw.Ranker(engine="xgboost", **few, categorical_feature=[0, 1]),
        "xgboost-dart": rw.Ranker(engine="xgboost", **few, booster="dart", rate_drop=0.5),
        "catboost": rw.Ranker(
            "yetirank", engine="catboost", n_estimators=3, num_leaves=4, n_jobs=1
        ),
        "pairtree": rw.Ranker(pairs, engine="pairtree", **trees),
        "two-stage": rw.TwoStage(
            rw.Ranker(**trees), rw.Ranker(**trees), top=4, folds=2, verbose=False
        ),
        "neural": rw.NeuralRanker(**network),
    }


def train_bases(folder: Path, names: tuple[str, ...] | None = None) -> None:
    """Train a model of each kind, unless the folder has it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ranker in _rankers().items():
        path = folder / f"{name}.base"
        if not path.exists() and (names is None or name in names):
            ranker.fit(_data()).save(path)
    # Trained on the same data by version 0.4: no engine makes such files any more.
    (folder / "lightgbm-pairs.base").write_text(_OLD_PAIRS.read_text())


@functools.cache
def _bases() -> dict[str, dict[str, Any]]:
    folder = Path(os.environ["RANKWOOD_FUZZ_BASES"])
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.base"))}


def make(rng: random.Random) -> bytes:
    """Return a hostile model file with a right checksum."""
    name = rng.choice(sorted(_bases()))
    content = json.loads(json.dumps(_bases()[name]))  # a copy
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(rng, content)
    content["sha256"] = envelope.checksum(content)
    return json.dumps(content).encode()


def _change(rng: random.Random, content: dict[str, Any]) -> None:
    """Change a file's content in one place, most often in the model of an engine."""
    inside = content
    if isinstance(content.get("first"), list) and rng.random() < 0.8:
        inside = rng.choice([*content["first"], content.get("second")]) or content
    if not isinstance(inside, dict) or "model" not in inside or rng.random() < 0.2:
        change_json(rng, content)
    elif isinstance(inside["model"], str):
        inside["model"] = _changed_model(rng, inside["model"])


def _changed_model(rng: random.Random, text: str) -> str:
    """Return an engine's text after a change."""
    if rng.random() < 0.1:
        return damaged(rng, text.encode(errors="replace"), ALPHABET, 2).decode(errors="replace")
    if text.startswith("tree\n"):
        return changed_lightgbm(rng, text)
    try:
        held = json.loads(text)
    except ValueError:
        return _changed_arrays(rng, text)
    if not isinstance(held, dict):
        return text
    if isinstance(held.get("lightgbm"), str) and rng.random() < 0.8:
        held["lightgbm"] = changed_lightgbm(rng, held["lightgbm"])
    elif isinstance(held.get("arrays"), dict) and rng.random() < 0.8:
        array = held["arrays"].get(rng.choice(sorted(held["arrays"])))
        if isinstance(array, dict) and isinstance(array.get("base64"), str):
            array["base64"] = _changed_numbers(rng, array["base64"], str(array.get("dtype")))
    else:
        blob = held.pop("cbm", None)
        change_json(rng, held)
        if blob is not None and rng.random() < 0.95:
            held["cbm"] = blob
    return json.dumps(held)


def change_json(rng: random.Random, content: Any) -> None:
    """Replace, remove, repeat or add one value somewhere in an object of JSON."""
    at = content
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(at[key], (dict, list)) and at[key] and rng.random() < 0.85:
            at = at[key]
            continue
        break
    old, change = at[key], rng.random()
    if change < 0.1:
        del at[key]
    elif change < 0.2 and isinstance(at, list):
        at.insert(key, old)
    elif change < 0.25 and isinstance(at, list):
        rng.shuffle(at)
    elif change < 0.3 and isinstance(at, dict):
        at["other"] = _other(rng)
    elif isinstance(old, str) and change < 0.75:
        other = damaged(rng, old.encode()[:999], ALPHABET).decode(errors="replace")
        at[key] = str(rng.choice(NUMBERS)) if rng.random() < 0.6 else other
    else:
        at[key] = rng.choice(NUMBERS) if rng.random() < 0.75 else _other(rng)


def _other(rng: random.Random) -> Any:
    """Return a copy of a value of another kind, so that a later change stays in its own file."""
    return copy.deepcopy(rng.choice(OTHERS))


def changed_lightgbm(rng: random.Random, text: str) -> str:
    """Return LightGBM's text after a change of a number or a line; most often the sizes of trees agree with it."""
    lines = text.split("\n")
    trees = [i for i, line in enumerate(lines) if "=" in line]
    i = rng.choice(trees) if trees and rng.random() < 0.9 else rng.randrange(len(lines))
    change = rng.random()
    if change < 0.7:
        found = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", lines[i]))
        if found:
            which = rng.choice(found)
            new = (
                str(rng.choice(NUMBERS))
                if rng.random() < 0.8
                else rng.choice(("", "nan", "inf", "1 2", "-", "x"))
            )
            lines[i] = lines[i][: which.start()] + new + lines[i][which.end() :]
    elif change < 0.78:
        del lines[i]
    elif change < 0.84:
        lines.insert(i, lines[i])
    elif change < 0.9:
        j = rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    elif change < 0.94:
        words = lines[i].split(" ")
        rng.shuffle(words)
        lines[i] = " ".join(words)
    elif change < 0.97:
        del lines[i + 1 :]
    else:
        lines[i] += rng.choice((" 1", " ", "=", "\r", " 0 0 0"))
    text = "\n".join(lines)
    return with_sizes(text) if rng.random() < 0.9 else text


def with_sizes(text: str) -> str:
    """Return LightGBM's text with the sizes of its trees as they are."""
    head, *trees = re.split(r"(?=^Tree=)", text, flags=re.MULTILINE)
    if not trees:
        return text
    trees[-1], end, tail = trees[-1].partition("end of trees")
    sizes = " ".join(str(len(tree.encode(errors="replace"))) for tree in trees)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return head + "".join(trees) + end + tail


def _changed_numbers(rng: random.Random, text: str, dtype: str) -> str:
    """Return an array in base64 after a change of one number."""
    try:
        values = np.frombuffer(base64.b64decode(text), dtype).copy()
    except (ValueError, TypeError):
        return text
    if values.size and rng.random() < 0.9:
        with np.errstate(all="ignore"):
            new = np.array([rng.choice(NUMBERS)], np.float64).astype(values.dtype)[0]
            values[rng.randrange(values.size)] = new
    else:
        values = values[: rng.randint(0, values.size)]
    return base64.b64encode(values.tobytes()).decode()


def _changed_arrays(rng: random.Random, text: str) -> str:
    """Return tensors in base64 after a change of bytes, of their header or their values."""
    try:
        data = bytearray(base64.b64decode(text))
    except ValueError:
        return text
    for _ in range(rng.randint(1, 4)):
        if data:
            limit = len(data) if rng.random() < 0.5 else min(len(data), 600)
            data[rng.randrange(limit)] = rng.randrange(256)
    return base64.b64encode(bytes(data)).decode()


@functools.cache
def _documents() -> rw.RankingData:
    return _data()


@functools.cache
def warm_up() -> None:
    """Import every engine, and compile what predictions need, so that no input waits for it."""
    for content in _bases().values():
        run(json.dumps(content).encode())


def run(data: bytes) -> str:
    """Load a file, and predict twice: what isn't refused must be finite, and the same both times."""
    with open(_file, "wb") as file:
        file.write(data)
    kind = json.loads(data).get("kind", "Ranker")
    made = estimator_class(kind if kind in ("NeuralRanker", "TwoStage") else "Ranker").load(_file)
    repr(made)
    scores = made.predict(_documents())
    if not np.isfinite(scores).all():
        raise Wrong(f"scores that aren't finite: {scores[~np.isfinite(scores)][:3]}")
    if not np.array_equal(scores, made.predict(_documents())):
        raise Wrong("two predictions differ")
    if kind == "Ranker":
        gains = made.feature_importances_
        if gains.shape != (made.n_features_in_,):
            raise Wrong(f"importances have shape {gains.shape}")
    return "accepted"
