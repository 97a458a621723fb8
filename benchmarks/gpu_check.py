"""Every objective by name on a GPU against the CPU's float32: the largest difference, relative to the largest number.

python -m benchmarks.gpu_check [--workers 12] [--names a,b] [--out table.md]
"""

import argparse
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.labels import labels_and_groups
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.gradients import GradientComputer

BAR = 1e-5


def names() -> list[str]:
    """Return all names; those with a cutoff have one."""
    cut = [any(p.name == "k" for p in row.parameters) for row in OBJECTIVES.values()]
    return [f"{name}@5" if k else name for name, k in zip(OBJECTIVES, cut, strict=True)]


def lists(kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, float32 scores and sizes: of short lists, of ties, of scores far apart, or of long lists."""
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 2, 3, 7, 64, 65, 130, 200, *rng.integers(20, 180, 40)])
    if kind == "long":
        sizes = np.array([900, 1500, 2600])
    n = int(sizes.sum())
    y = rng.choice(5, n, p=[0.5, 0.3, 0.15, 0.03, 0.02]).astype(float)
    scores = 0.5 * y + rng.normal(size=n)
    if kind == "ties":
        scores = np.round(scores)
    if kind == "wide":
        scores = scores * 60
    return y, scores.astype(np.float32), sizes


def compare(name: str, kind: str) -> dict[str, Any]:
    """Return the largest relative difference of GPU and CPU, and whether two runs agree bit for bit."""
    import cupy

    from rankwood.objectives.cuda import DeviceGradients

    y, scores, sizes = lists(kind)
    objective = rw.objective(name)
    y, groups = labels_and_groups(y, None, sizes)
    pairs = GivenPairs.by_labels(y, groups)
    cpu = GradientComputer(objective, y, groups, dtype=np.float32, seed=3, pairs=pairs)
    wanted = cpu(scores.astype(float), 2)
    gpu = DeviceGradients(objective, y, groups, seed=3, pairs=pairs)
    on_device = cupy.asarray(scores)
    begin = time.perf_counter()
    first = [cupy.asnumpy(x) for x in gpu(on_device, 2)]
    seconds = time.perf_counter() - begin
    again = [cupy.asnumpy(x) for x in gpu(on_device, 2)]
    off = [
        float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))
        for a, b in zip(first, wanted, strict=True)
    ]
    same = all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    return {
        "name": name,
        "kind": kind,
        "grad": off[0],
        "hess": off[1],
        "same": same,
        "seconds": seconds,
    }


def work(chosen: list[str], kinds: list[str]) -> None:
    """Print one line of JSON for each name and kind of lists."""
    for name in chosen:
        for kind in kinds:
            try:
                row = compare(name, kind)
            except Exception as error:  # one failure must not hide the rest
                text = "".join(traceback.format_exception(error))[-600:]
                row = {"name": name, "kind": kind, "error": f"{type(error).__name__}: {text}"}
            print(json.dumps(row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--names", default="")
    parser.add_argument("--kinds", default="short,ties,wide,long")
    parser.add_argument("--work", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    chosen = args.names.split(",") if args.names else names()
    if args.work:
        return work(chosen, args.kinds.split(","))
    shares = [chosen[i :: args.workers] for i in range(args.workers)]
    command = [sys.executable, "-m", "benchmarks.gpu_check", "--work", "--kinds", args.kinds]
    running = [
        subprocess.Popen([*command, "--names", ",".join(share)], stdout=subprocess.PIPE, text=True)
        for share in shares
        if share
    ]
    rows = [json.loads(line) for one in running for line in one.communicate()[0].splitlines()]
    report(rows, chosen, args.out)


def report(rows: list[dict[str, Any]], chosen: list[str], out: Path | None) -> None:
    """Print failures, and a table of all names."""
    for row in rows:
        if "error" in row:
            print(row["name"], row["kind"], row["error"].replace("\n", " | ")[-420:])
    good = [row for row in rows if "error" not in row]
    bad = [r for r in good if not (max(r["grad"], r["hess"]) <= BAR and r["same"])]
    for r in bad:
        print(
            "OFF",
            r["name"],
            r["kind"],
            f"{r['grad']:.1e} {r['hess']:.1e}",
            "same" if r["same"] else "DIFFERS",
        )
    print(
        f"{len(chosen)} names, {len(rows)} comparisons, {len(rows) - len(good)} errors, {len(bad)} off"
    )
    by_name = {name: [r for r in good if r["name"] == name] for name in chosen}
    lines = ["| objective | gradient | Hessian | same bits twice |", "|---|---|---|---|"]
    for name, found in by_name.items():
        if found:
            grad, hess = (max(r[k] for r in found) for k in ("grad", "hess"))
            same = "yes" if all(r["same"] for r in found) else "no"
            lines.append(f"| `{name}` | {grad:.1e} | {hess:.1e} | {same} |")
    if out is not None:
        out.write_text("\n".join(lines) + "\n")
    slow = sorted(good, key=lambda r: -r["seconds"])[:3]
    print("slowest first calls:", [(r["name"], r["kind"], round(r["seconds"], 1)) for r in slow])


if __name__ == "__main__":
    main()
