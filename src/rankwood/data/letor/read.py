"""Read LETOR text in one pass: blocks of whole lines, parsed by several threads as they come.

Every block gets a matrix of its own, on memory that goes back to the system at once, so putting the
blocks together at the end needs room for one matrix and a few blocks, never for two matrices.
"""

import mmap
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from rankwood._core.checks import InputError
from rankwood._core.memory import available
from rankwood._core.threads import threads
from rankwood.data.comments import Comments
from rankwood.data.letor import parse as k
from rankwood.data.letor import words
from rankwood.data.letor.blocks import Block, Blocks, opened

_MOST_THREADS = 8  # reading the file, which only one does at a time, feeds about that many
_SHARE = 0.8  # of the free memory that reading may take


class Options(NamedTuple):
    """What decides how the text is understood."""

    n_features: int | None = None
    absent: float = 0.0
    marker: bool = False


class Letor(NamedTuple):
    """The contents of a LETOR file."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    comments: Comments | None


Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Part(NamedTuple):
    """What one block of lines holds."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    text: np.ndarray
    length: np.ndarray


class Scratch:
    """What one thread needs again and again."""

    def __init__(self) -> None:
        self.out = np.zeros(8, np.int64)
        self.hard = np.empty((64, 4), np.int64)
        self.seen = np.empty(0, np.int32)  # the last row, of a block, that had each feature

    def clear(self, size: int, width: int) -> None:
        """Make ready for a block of `size` bytes and `width` features."""
        self.text = _pages(size, np.uint8)
        if self.seen.size < width:
            self.seen = np.empty(width, np.int32)
        self.seen[:] = -1
        self.out[:] = 0
        self.out[k.PLAIN] = 1


class Parser:
    """What the threads share: the options, the parts done so far, and how wide the matrix must be."""

    def __init__(self, blocks: Blocks, options: Options, threads: int):
        self.blocks, self.path, self.options = blocks, blocks.path, options
        self.threads = threads
        self.lock = threading.Lock()
        self.parts: dict[int, Part] = {}
        self.width = options.n_features or 0
        self.widest = 0  # the line with the largest index
        self.rows = 0
        self.most = 0  # lines in a block
        self.size = 0.0  # bytes that are needed, as far as is known
        self.limit = _SHARE * available()

    def work(self) -> None:
        """Parse blocks until there are no more."""
        buf = bytearray()
        scratch = Scratch()
        try:
            while block := self.blocks.fill(buf):
                try:
                    self.parts[block.number] = self.part(
                        np.frombuffer(buf, np.uint8), block, scratch
                    )
                except InputError as error:
                    self.blocks.fail(block.number, error)
                    return
        finally:
            self.blocks.done = True

    def part(self, buf: np.ndarray, block: Block, scratch: Scratch) -> Part:
        """Parse one block."""
        n = block.lines
        rows = (
            np.empty(n),
            np.empty(n, np.int32),
            np.empty(n, np.int64),
            np.empty((n, 2), np.int64),
            np.empty(n, np.int64),
        )
        X = self.run(buf, block, rows, scratch)
        out = scratch.out
        self.settle(buf, block, X, rows[0], scratch.hard[: out[k.HARD]])
        if out[k.CODE]:
            raise self.problem(buf, block, int(out[k.CODE]), int(out[k.AT]))
        count = int(out[k.ROWS])
        with self.lock:
            self.rows += count
        self.check(0, self.width)
        y, power, qid, span, length = (column[:count] for column in rows)
        _shift(y, power)
        names = qid if out[k.PLAIN] else self.names(buf, block, span)
        return Part(X[:count], y, names, scratch.text[: out[k.TEXT]], length)

    def run(self, buf: np.ndarray, block: Block, rows: Rows, scratch: Scratch) -> np.ndarray:
        """Run the kernel; again, if it turns out to need a wider matrix or a longer list."""
        forced = self.options.n_features is not None
        out = scratch.out
        while True:
            width = self.width
            self.check(block.lines, width)
            X = _pages(block.lines * width, np.float32).reshape(block.lines, width)
            scratch.clear(buf.size, width)
            k.parse(
                *(buf, block.size, X, X.view(np.uint32), rows, scratch.text, scratch.seen),
                *(np.float32(self.options.absent), forced, self.options.marker, scratch.hard, out),
            )
            if out[k.WIDTH] > width and not forced:
                self.widen(int(out[k.WIDTH]), block.line + _newlines(buf, out[k.WIDEST]))
            elif out[k.CODE] == k.FULL:
                scratch.hard = np.empty((scratch.hard.shape[0] * 4, 4), np.int64)
            else:
                return X

    def widen(self, width: int, line: int) -> None:
        """Make room for a feature index found in `line`."""
        with self.lock:
            if width > self.width:
                self.width, self.widest = width, line

    def check(self, lines: int, width: int) -> None:
        """Complain if the matrix, with `lines` rows more than there are now, would not fit in memory."""
        with self.lock:
            self.most = max(self.most, lines)
            rows = self.rows + lines
            # When blocks are put together, each thread holds one that is in the matrix already.
            copied = min(rows, self.threads * self.most)
            size = 4.0 * width * (rows + copied + self.threads)  # `seen` is a row of each thread
            self.size = max(self.size, size)
        if size > self.limit:
            have = f"expected at most {self.limit / 2**30:.1f} GiB, most of the memory that is free"
            raise self.too_large(size, have)

    def too_large(self, size: float, have: str) -> InputError:
        """Return the error for a matrix that memory doesn't hold."""
        need = f"reading a dense matrix of that width takes about {size / 2**30:.1f} GiB, {have}"
        if self.options.n_features is not None:
            return InputError(
                f"{self.path} can't be read with n_features={self.width}: {need}; give a smaller "
                "n_features, or more memory."
            )
        if not self.widest:
            return InputError(
                f"{self.path} can't be read: there is no memory for a block of its lines, expected some "
                "MiB; close other programs."
            )
        return InputError(
            f"{self.path}, line {self.widest}: the largest feature index is {self.width} and {need}; "
            "correct the index, or give more memory."
        )

    def settle(
        self, buf: np.ndarray, block: Block, X: np.ndarray, y: np.ndarray, hard: np.ndarray
    ) -> None:
        """Round exactly the numbers that the kernel wasn't sure about."""
        known: dict[bytes, float] = {}
        for start, stop, row, column in hard.tolist():
            token = buf[start:stop].tobytes()
            try:
                if column == k.LABEL:
                    y[row] = words.exact_label(token.decode())
                    continue
                if token not in known:
                    known[token] = words.exact_value(token.decode(), self.options.marker)
                X[row, column] = known[token]
            except InputError as error:
                line = block.line + _newlines(buf, start)
                raise InputError(f"{self.path}, line {line}: {error}") from None

    def names(self, buf: np.ndarray, block: Block, span: np.ndarray) -> np.ndarray:
        """Return the query ids of a block as text."""
        names = []
        for start, stop in span.tolist():
            raw = buf[start:stop].tobytes()
            try:
                names.append(raw.decode())
            except UnicodeDecodeError:
                line = block.line + _newlines(buf, start)
                raise InputError(
                    f"{self.path}, line {line}: the query id {raw!r} is not UTF-8, expected UTF-8 text."
                ) from None
        return np.array(names, dtype=np.str_)

    def problem(self, buf: np.ndarray, block: Block, code: int, at: int) -> InputError:
        """Say in a sentence what the kernel stopped at."""
        stop = at
        while not k.ends(buf[stop]):
            stop += 1
        token = buf[at:stop].tobytes().decode("utf-8", "replace")
        place = f"{self.path}, line {block.line + _newlines(buf, at)}"
        if code == k.TOO_WIDE:
            return words.TooWide(place, token, int(self.options.n_features or 0))
        return InputError(f"{place}: {words.reason(code, token)}")


def read(path: str, options: Options, n_jobs: int | None = None) -> Letor:
    """Read a whole file, or nothing."""
    with opened(path) as blocks:
        count = max(1, min(threads(n_jobs), _MOST_THREADS, blocks.guess()))
        parser = Parser(blocks, options, count)
        try:
            _run(parser, count)
            if parser.rows == 0:
                raise InputError(
                    f"{path} holds no documents, expected lines such as '0 qid:1 1:0.5'."
                )
            return _join(parser.parts, parser.rows, parser.width, options.absent, count)
        except MemoryError:
            raise parser.too_large(parser.size, "which the system doesn't give") from None


def _run(parser: Parser, count: int) -> None:
    """Parse all blocks on so many threads, and raise the first error of the file."""
    with ThreadPoolExecutor(count) as pool:
        try:
            for done in [pool.submit(parser.work) for _ in range(count)]:
                done.result()
        finally:
            parser.blocks.done = True  # whatever went wrong: the others needn't go on
    if parser.blocks.errors:
        raise parser.blocks.errors[min(parser.blocks.errors)]


def _join(parts: dict[int, Part], rows: int, width: int, absent: float, count: int) -> Letor:
    """Put the parts together, giving back the memory of each as soon as it is copied."""
    order = [parts[number] for number in sorted(parts)]
    parts.clear()
    y = np.concatenate([part.y for part in order])
    qid = _join_names([part.qid for part in order])
    lengths = np.concatenate([part.length for part in order])
    texts = [part.text for part in order]
    matrices = [part.X for part in order]
    del order
    comments = _join_comments(texts, lengths)
    starts = np.cumsum([0] + [matrix.shape[0] for matrix in matrices]).tolist()
    X = np.empty((rows, width), np.float32)

    def place(number: int) -> None:
        source, matrices[number] = matrices[number], matrices[number][:0].copy()
        target = X[starts[number] : starts[number + 1]]
        target[:, : source.shape[1]] = source
        target[:, source.shape[1] :] = absent

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(place, range(len(matrices))))
    return Letor(X, y, qid, comments)


def _join_names(names: list[np.ndarray]) -> np.ndarray:
    if any(part.dtype.kind == "U" for part in names):
        names = [part.astype(np.str_) for part in names]
    return np.concatenate(names)


def _join_comments(texts: list[np.ndarray], lengths: np.ndarray) -> Comments | None:
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    blob = np.empty(offsets[-1], np.uint8)
    stop = blob.size
    while texts:
        text = texts.pop()
        blob[stop - text.size : stop] = text
        stop -= text.size
    return Comments(blob, offsets) if blob.size else None


def _pages(count: int, dtype: Any) -> np.ndarray:
    """Return an array on pages of its own, which the system has back once nobody looks at it.

    Pages that are never written to take no memory, so an array may well be too large.
    """
    try:
        pages = mmap.mmap(-1, max(count * np.dtype(dtype).itemsize, 1))
    except (OSError, OverflowError) as error:
        raise MemoryError from error
    return np.frombuffer(pages, dtype, count)


def _newlines(buf: np.ndarray, stop: int) -> int:
    return int(np.count_nonzero(buf[:stop] == 10))


def _shift(y: np.ndarray, power: np.ndarray) -> None:
    """Multiply by powers of ten that, like the mantissas in `y`, are exact: one correct rounding."""
    if power.any():
        ten = k.TEN[k.TENS + np.abs(power)]
        np.multiply(y, ten, out=y, where=power > 0)
        np.divide(y, ten, out=y, where=power < 0)
