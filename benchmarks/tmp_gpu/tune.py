import sys
import time

import cupy
from benchmarks import bench_cuda as b

import rankwood as rw
from rankwood.data.labels import labels_and_groups
from rankwood.objectives import cuda as dc

y, s, sizes = b.queries()
y, groups = labels_and_groups(y, None, sizes)
d = cupy.asarray(s)
out = cupy.empty_like(d), cupy.empty_like(d)
for name in list(b.BARS) + [
    "lambdarank-ndcg",
    "lambdaloss-ndcg",
    "lambdarank-map@10",
    "ranknet(norm=False)",
    "stochasticrank-ndcg@10",
    "approxndcg",
]:
    for T in (32, 64):
        try:
            dc._TEAMS = ((1024, T), (2**62, 512))
            t = time.time()
            g = dc.DeviceGradients(rw.objective(name), y, groups)
            g(d)
            cupy.cuda.Device().synchronize()
            t = time.time() - t
            k = b.graph_milliseconds(lambda: g(d, out=out), 10)
            e, c = b.milliseconds(lambda: g(d, out=out), 20)
            kern = list(g._built.values())[0][0][1]._compiled
            try:
                regs = kern.regs_per_thread
                sh = [one.teams for one, _ in list(g._built.values())[0]]
                loc = kern.local_mem_per_thread
            except Exception as x:
                regs, sh, loc = str(x)[:60], 0, 0
            print(
                f"{name} T={T} kernel {k:.4f} events {e:.4f} call {c:.4f} first {t:.1f}s regs {regs} shared {sh} local {loc}",
                flush=True,
            )
        except Exception as x:
            print(name, T, type(x).__name__, str(x)[:120], flush=True)
            if "illegal" in str(x):
                sys.exit()
