"""Networks on a GPU, where there is one: recorded passes, bits, and scores beside those of the CPU."""

import numpy as np
import pytest
import torch

from neural.small import SMALL, small, some_data
from rankwood.neural import run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def fit(architecture, **params):
    return small(architecture, epochs=4, **{"device": "cuda", **params}).fit(
        some_data(), valid=some_data(1)
    )


@pytest.mark.parametrize("architecture", SMALL)
def test_the_same_bits_twice_and_without_a_recording(architecture, monkeypatch):
    recorded, record = [], run.record
    monkeypatch.setattr(
        run, "record", lambda *given: recorded.append(record(*given)) or recorded[-1]
    )
    one, two = fit(architecture), fit(architecture)
    assert len(recorded) == (0 if architecture == "gsf" else 2) and None not in recorded
    monkeypatch.setattr(run, "record", lambda *given: None)
    plain = fit(architecture)
    for name, weights in one.model_.weights.items():
        assert weights.tobytes() == two.model_.weights[name].tobytes(), name
        assert weights.tobytes() == plain.model_.weights[name].tobytes(), name


@pytest.mark.parametrize("architecture", SMALL)
def test_the_gpu_trains_what_the_cpu_trains(architecture):
    own = {"dropout": 0.0} if architecture != "setrank" else {"attention_dropout": 0.0}
    own |= {"attention_dropout": 0.0} if architecture == "attn-din" else {}
    gpu, cpu = fit(architecture, precision="float32", **own), fit(architecture, device="cpu", **own)
    data = some_data(2)
    found, wanted = gpu.predict(data), cpu.predict(data)
    assert np.corrcoef(found, wanted)[0, 1] > 0.999
    np.testing.assert_allclose(gpu.set_params(device="cpu").predict(data), found, atol=1e-4)
