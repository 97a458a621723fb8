import numpy as np
import torch

import rankwood as rw
from rankwood.data.labels import labels_and_groups

y, groups = labels_and_groups(np.array([0.0, 1, 2, 0, 1, 3, 0, 2]), None, [3, 5])
s = torch.tensor([0.3, -0.2, 0.5, 0.5, 1, 0, 0.1, 0.2], device="cuda", requires_grad=True)
g, h = rw.gradients("lambdarank-ndcg", y, s, group=[3, 5])
print(type(g), g.device, g.dtype)
w = rw.gradients("lambdarank-ndcg", y, s.detach().cpu().numpy().astype(float), group=[3, 5])
print("torch", np.abs(g.cpu().numpy() - w[0]).max())
d = s.detach().double()
g64, _ = rw.gradients("lambdarank-ndcg", torch.tensor(y, device="cuda"), d, group=[3, 5])
print("double", g64.dtype, np.abs(g64.cpu().numpy() - w[0]).max())
st = torch.cuda.Stream()
with torch.cuda.stream(st):
    g2, _ = rw.gradients("lambdarank-ndcg", y, s, group=[3, 5])
st.synchronize()
print("stream", torch.equal(g, g2))


class D:
    def __init__(self, x):
        self.x = x
        self.shape = x.shape
        self.dtype = x.dtype

    def __dlpack__(self, **k):
        return self.x.__dlpack__(**k)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


g3, _ = rw.gradients("lambdarank-ndcg", y, D(s.detach()), group=[3, 5])
print("dlpack", type(g3), np.abs(g3.copy_to_host() - w[0]).max())
from rankwood.objectives.cuda import DeviceGradients as DG

c = DG(rw.objective("lambdarank-ndcg"), y, groups, weight=np.array([2.0, 1.0]))
a, _ = c(s)
print("weight", np.abs(a.cpu().numpy()[:3] - 2 * w[0][:3]).max())
for bad in (
    torch.zeros(3, device="cuda"),
    torch.zeros(8, device="cuda", dtype=torch.int32),
    torch.zeros(16, device="cuda")[::2],
):
    try:
        rw.gradients("lambdarank-ndcg", y, bad, group=[3, 5])
    except Exception as e:
        print(type(e).__name__, e)
n = s.detach().clone()
n[4] = float("nan")
g4, _ = rw.gradients("lambdarank-ndcg", y, n, group=[3, 5])
print("nan", g4)
try:
    rw.gradients("bi-ranknet", y, s, group=[3, 5])
except Exception as e:
    print(type(e).__name__, str(e)[:150])
