"""Networks on a GPU, where there is one: recorded passes, bits, and scores beside those of the CPU."""

import gc

import numpy as np
import pytest
import torch

import rankwood as rw
from rankwood.neural import learner
from tests.helpers.small_networks import SMALL, small, some_data

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def fit(architecture, **params):
    return small(architecture, **{"epochs": 4, "device": "cuda", **params}).fit(
        some_data(), valid=some_data(1)
    )


@pytest.mark.parametrize("architecture", SMALL)
def test_the_same_bits_twice_and_without_a_recording(architecture, monkeypatch):
    recorded, record = [], learner.record
    monkeypatch.setattr(
        learner, "record", lambda *given: recorded.append(record(*given)) or recorded[-1]
    )
    one, two = fit(architecture), fit(architecture)
    assert len(recorded) == (0 if architecture == "gsf" else 2) and None not in recorded
    monkeypatch.setattr(learner, "record", lambda *given: None)
    plain = fit(architecture)
    for name, weights in one.model_.weights.items():
        assert weights.tobytes() == two.model_.weights[name].tobytes(), name
        assert weights.tobytes() == plain.model_.weights[name].tobytes(), name


@pytest.mark.parametrize("architecture", SMALL)
def test_the_gpu_trains_what_the_cpu_trains(architecture):
    own = {"dropout": 0.0} if architecture != "setrank" else {"attention_dropout": 0.0}
    own |= {"attention_dropout": 0.0} if architecture == "attn-din" else {}
    own |= {"epochs": 1}  # later epochs multiply the differences of the first
    gpu, cpu = fit(architecture, precision="float32", **own), fit(architecture, device="cpu", **own)
    data = some_data(2)
    found, wanted = gpu.predict(data), cpu.predict(data)
    assert np.corrcoef(found, wanted)[0, 1] > 0.999
    np.testing.assert_allclose(gpu.set_params(device="cpu").predict(data), found, atol=1e-4)


def wide(batch):
    """Return a ranker whose memory is mostly that of its batch, and data."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40_000)
    X = rng.normal(size=(y.size, 20)).astype(np.float32)
    X[:, 0] += y
    data = rw.RankingData(X, y.astype(float), group=[20] * 2000)
    return small("dnn", hidden=(512, 512), epochs=1, batch_documents=batch, device="cuda"), data


def peak_of(batch):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    ranker, data = wide(batch)
    return ranker.fit(data), torch.cuda.max_memory_reserved()


def test_too_little_memory_halves_the_batch_once_and_then_says_so():
    half, little = peak_of(20_000)
    _, much = peak_of(40_000)
    whole = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((0.5 * little + 0.5 * much) / whole)
        ranker, data = wide(40_000)
        ranker.fit(data)
        for name, weights in half.model_.weights.items():
            assert weights.tobytes() == ranker.model_.weights[name].tobytes(), name
        del ranker
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(0.8 * little / whole)
        with pytest.raises(rw.InputError, match="too little memory for batches of 20000 documents"):
            wide(40_000)[0].fit(data)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
