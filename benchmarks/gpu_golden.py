"""The published expected values on a GPU: gradients and Hessians in float32, relative to the largest.

    python -m benchmarks.gpu_golden [--workers 12] [--out table.md]

Values that belong to given permutations or given noise can't be asked of a kernel that draws its own; `gpu_check`
compares those objectives with the CPU, which draws the same.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankwood as rw

ROOT = Path(__file__).parents[1]
BAR = 1e-5
STRATEGIES = ("static", "all", "all-static")


def cases(golden: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any], Any, Any]]:
    """Yield the name of a group of values, an objective, a list, and the expected gradients and Hessians."""
    from tests.helpers.golden_names import NAMES

    for case, given in golden["cases"].items():
        for key, text in NAMES.items():
            want = golden["pairwise"][case].get(key, {})
            for norm, end in ((False, ""), (True, "_lgbnorm")):
                if "grad" + end in want:
                    name = text.format(k=given["k"], mu=want.get("mu"))
                    objective = rw.objective(name, norm=norm)
                    yield key, objective, given, want["grad" + end], want.get("hess" + end)
    for case, table in golden["lambdamart_any_metric"].items():
        for key, want in table.items():
            metric, variant = key.split("|")
            for norm, end in ((False, ""), (True, "_norm")):
                name = f"lambdarank-{metric.lower()}"
                objective = rw.objective(name, variant=variant, norm=norm)
                yield (
                    key,
                    objective,
                    golden["cases"][case],
                    want["grad" + end],
                    want.get("hess" + end),
                )
    yield from lambda_ex(golden)
    for case, want in golden["listwise"].items():
        for name, end in (("softmax", "hess_diag"), ("queryrmse", "hess")):
            grad, hess = want[f"{name}_grad"], want[f"{name}_{end}"]
            yield name, rw.objective(name), golden["cases"][case], grad, hess


def lambda_ex(golden: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any], Any, Any]]:
    """Yield the values of Lambda-eX whose anchors aren't drawn."""
    kinds = (
        ("lambdamart-ex", {}, ""),
        ("lambdaloss-ex++", {"mu": 5.0, "delta": "exact"}, "loss2pp_mu5_"),
        ("lambdaloss-ex++", {"mu": 5.0, "delta": "shifted"}, "loss2pp_mu5_shifted_"),
    )
    for case, table in golden["lambda_ex"].items():
        given = golden["cases"].get(case, table)
        for how in STRATEGIES:
            for definition, word in (("program", "code"), ("paper", "text")):
                want = table.get(f"{how}|{word}")
                for name, params, key in kinds if isinstance(want, dict) else ():
                    for norm, end in ((False, ""), (True, "_lgbnorm")):
                        if f"{key}grad{end}" in want:
                            made = {
                                "k": given["k"],
                                "definition": definition,
                                "norm": norm,
                                **params,
                            }
                            objective = rw.objective(f"{name}-{how}", **made)
                            hess = want.get(f"{key}hess{end}")
                            yield f"{name}-{how}", objective, given, want[f"{key}grad{end}"], hess


def work(share: int, workers: int) -> None:
    """Print one line of JSON for each group of values of this share."""
    import cupy

    golden = json.loads((ROOT / "tests" / "oracles" / "golden.json").read_text())
    found: dict[str, list[float]] = {}
    for key, objective, given, grad, hess in cases(golden):
        if sum(map(ord, key)) % workers != share:
            continue
        try:
            scores = cupy.asarray(given["s"], cupy.float32)
            got = [cupy.asnumpy(x) for x in rw.gradients(objective, given["y"], scores)]
            for have, want in zip(got, (grad, hess), strict=True):
                if want is not None:
                    off = np.abs(have - np.asarray(want)).max() / max(np.abs(want).max(), 1e-30)
                    found.setdefault(key, []).append(float(off))
        except Exception as error:  # one failure must not hide the rest
            print(
                json.dumps({"key": key, "error": f"{type(error).__name__}: {error}"[:300]}),
                flush=True,
            )
    for key, off in found.items():
        print(json.dumps({"key": key, "values": len(off), "off": max(off)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--share", type=int)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.share is not None:
        return work(args.share, args.workers)
    command = [sys.executable, "-m", "benchmarks.gpu_golden", "--workers", str(args.workers)]
    running = [
        subprocess.Popen([*command, "--share", str(i)], stdout=subprocess.PIPE, text=True)
        for i in range(args.workers)
    ]
    rows = [json.loads(line) for one in running for line in one.communicate()[0].splitlines()]
    good = sorted((r for r in rows if "error" not in r), key=lambda r: r["key"])
    for row in rows:
        if "error" in row:
            print("ERROR", row["key"], row["error"][:160])
    bad = [r for r in good if not r["off"] <= BAR]
    for row in bad:
        print("OFF", row)
    print(
        f"{len(good)} groups, {sum(r['values'] for r in good)} lists, {len(bad)} off by more than {BAR}"
    )
    lines = ["| values | compared | largest difference |", "|---|---|---|"]
    lines += [f"| {r['key'].replace('|', ', ')} | {r['values']} | {r['off']:.1e} |" for r in good]
    if args.out is not None:
        args.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
