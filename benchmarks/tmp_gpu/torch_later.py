import os, sys, time
from benchmarks.bench_cuda import run_torch


def ready():
    open(sys.argv[1] + ".ready", "w").close()
    t = time.time()
    while not os.path.exists(sys.argv[1]) and time.time() - t < 170:
        time.sleep(0.2)


run_torch(ready=ready)
