"""Made-up training files of any size for `bench_stream`: the same values as LETOR text and as Parquet."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

QUERY = 100  # documents of a query
CHUNK = 100  # queries that are made at a time
FILES = 4
TEST = 10**6  # number of the chunk that is the first of the test queries


class Chunk(NamedTuple):
    """Some queries; `codes` are the features as whole numbers, before they are divided by `scale`."""

    codes: np.ndarray
    scale: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    @property
    def X(self) -> np.ndarray:
        return self.codes.astype(np.float32) / self.scale.astype(np.float32)


def scales(features: int) -> np.ndarray:
    """Return 10,000 for every third feature, which has four digits, and 100 for the others."""
    return np.where(np.arange(features) % 3 == 0, 10_000, 100)


def chunk(number: int, features: int) -> Chunk:
    """Return the queries of a chunk; relevance depends on a tenth of the features."""
    rng = np.random.default_rng([7, number])
    rows, scale = CHUNK * QUERY, scales(features)
    codes = (rng.random((rows, features), np.float32) * scale).astype(np.uint16)
    few = max(4, features // 10)
    X = codes[:, :few] / scale[:few]
    signal = X @ np.linspace(1, 0.2, few) + 2 * X[:, 0] * X[:, 1]
    noisy = signal + rng.normal(0, signal.std(), rows)
    y = np.digitize(noisy, np.quantile(noisy, [0.6, 0.8, 0.93, 0.98])).astype(np.float64)
    return Chunk(codes, scale, y, number * CHUNK + np.repeat(np.arange(CHUNK), QUERY))


def numbers(documents: int) -> list[list[int]]:
    """Return the numbers of the chunks of each file."""
    chunks = np.arange(documents // (QUERY * CHUNK))
    return [own.tolist() for own in np.array_split(chunks, FILES)]


def write(folder: Path, documents: int, features: int, kind: str) -> list[str]:
    """Write the training data as several files of a kind, `txt` or `parquet`."""
    names = [folder / f"train-{documents}-{features}-{i}.{kind}" for i in range(FILES)]
    for name, own in zip(names, numbers(documents), strict=True):
        if name.exists():
            continue
        if kind == "txt":
            _write_text(name, own, features)
        else:
            _write_parquet(name, own, features)
    return [str(name) for name in names]


def _write_text(name: Path, own: list[int], features: int) -> None:
    """Write LETOR text: the words of a feature are in a table, so that this is as fast as the disk."""
    words = [
        np.array([f" {j + 1}:{code / top:.{len(str(top)) - 1}f}" for code in range(top)], "S")
        for j, top in enumerate(scales(features))
    ]
    kind = np.dtype(
        [
            ("first", "S20"),
            *((f"f{j}", table.dtype) for j, table in enumerate(words)),
            ("end", "S1"),
        ]
    )
    with open(name, "wb") as file:
        for number in own:
            data = chunk(number, features)
            lines = np.empty(data.y.size, kind)
            first = [f"{y:.0f} qid:{q}" for y, q in zip(data.y, data.qid, strict=True)]
            lines["first"] = np.char.ljust(np.array(first, "S"), 20)
            for j, table in enumerate(words):
                lines[f"f{j}"] = table[data.codes[:, j]]
            lines["end"] = b"\n"
            file.write(lines.tobytes())


def _write_parquet(name: Path, own: list[int], features: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = ["query", "label", *(f"f{j}" for j in range(features))]
    types = [pa.int64(), pa.float64(), *[pa.float32()] * features]
    with pq.ParquetWriter(name, pa.schema(list(zip(columns, types, strict=True)))) as writer:
        for number in own:
            data = chunk(number, features)
            arrays = [data.qid, data.y, *np.ascontiguousarray(data.X.T)]
            writer.write_table(pa.table(dict(zip(columns, arrays, strict=True))))
