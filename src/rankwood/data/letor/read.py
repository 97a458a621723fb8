"""Read LETOR text in one pass: blocks of whole lines, parsed by several threads as they come.

Each block gets a matrix of its own, on memory that goes back to the system at once, so that joining the
blocks in the end takes room for one matrix and a few blocks, never for two matrices.

Why not scikit-learn's `load_svmlight_file`? It drops comments, which hold document ids; it takes only integers
as query ids; its errors don't name the line; its values are rounded to float64 before float32; and it runs on
one thread. This reader is strict, names the file and the line of a mistake, rounds once, and is about 25
times as fast (`benchmarks/bench_letor.py`: 200 MB of text on 2 cores).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from rankwood._kernels.threads import threads
from rankwood._util.checks import InputError
from rankwood.data.letor import errors, rounding
from rankwood.data.letor import parse as kernel
from rankwood.data.letor.blocks import BlockInfo, BlockReader, opened
from rankwood.data.letor.join import Letor, Part, allocate_pages, join
from rankwood.data.letor.memory_budget import MemoryBudget, estimated_lines
from rankwood.data.letor.options import LetorOptions
from rankwood.data.letor.tokens import MAX_POWER, NEWLINE, POWER_OF_TEN, ends_token

MAX_THREADS = 8  # only one thread reads the file at a time, which feeds about that many


class TextBlock(NamedTuple):
    """A block of lines and its text."""

    block: BlockInfo
    buf: np.ndarray

    def line(self, at: int) -> int:
        """Return the number, in the file, of the line at a position."""
        return self.block.line + int(np.count_nonzero(self.buf[:at] == NEWLINE))

    def token(self, start: int) -> str:
        """Return the token that starts at a position."""
        stop = start
        while not ends_token(self.buf[stop]):
            stop += 1
        return self.buf[start:stop].tobytes().decode("utf-8", "replace")


class ParseScratch:
    """Arrays that one thread uses for all of its blocks."""

    def __init__(self) -> None:
        self.uncertain = np.recarray(64, kernel.UNCERTAIN)
        self.last_row = np.empty(0, np.int32)

    def clear(self, width: int) -> kernel.State:
        """Return the state in which the parser starts on a block of `width` features."""
        if self.last_row.size < width:
            self.last_row = np.empty(width, np.int32)
        self.last_row[:] = -1
        report = np.zeros(1, kernel.REPORT).view(np.recarray)
        report[0].integer_qids = 1
        return kernel.State(self.last_row, self.uncertain, report)


class Parser:
    """Parses the blocks of a file; all threads share it."""

    def __init__(self, blocks: BlockReader, options: LetorOptions, n_threads: int):
        self.blocks, self.path, self.options = blocks, blocks.path, options
        self.parts: dict[int, Part] = {}
        self.budget = MemoryBudget(self.path, options.n_features, n_threads)
        words = "".join(word + "\n" for word in options.missing_words)
        self.rules = kernel.ParseRules(
            options.n_features is not None,
            options.missing_marker,
            np.float32(options.fill_value),
            np.array(list(words.encode()), np.uint8),
        )

    def work(self) -> None:
        """Parse blocks until there are no more."""
        buf = bytearray()
        scratch = ParseScratch()
        try:
            while block := self.blocks.fill(buf):
                try:
                    # No name for the array: `buf` can grow only while no array shares its memory.
                    self.parts[block.number] = self.parse(
                        TextBlock(block, np.frombuffer(buf, np.uint8)), scratch
                    )
                except InputError as error:
                    self.blocks.fail(block.number, error)
                    return
        finally:
            self.blocks.done = True

    def parse(self, text: TextBlock, scratch: ParseScratch) -> Part:
        """Parse one block."""
        columns, state = self.run_kernel(text, scratch)
        report = state.report[0]
        self.round_exactly(text, columns, state.uncertain[: report.uncertain])
        if report.error:
            raise self.error(text, int(report.error), int(report.at))
        if text.block.number == 0:
            self.budget.check_estimate(estimated_lines(self.blocks, text.block))
        self.budget.add_rows(int(report.rows))
        lines = columns.lines[: report.rows].view(np.recarray)
        return Part(
            columns.X[: report.rows],
            _labels(lines),
            lines.qid.copy() if report.integer_qids else self.text_ids(text, lines),
            columns.comments[: report.comment_bytes],
            lines.comment_size.copy(),
        )

    def run_kernel(
        self, text: TextBlock, scratch: ParseScratch
    ) -> tuple[kernel.ParsedColumns, kernel.State]:
        """Run the kernel, again if it needs a wider matrix or a longer list."""
        while True:
            width = self.budget.width
            columns = self.allocate(text, width)
            state = scratch.clear(width)
            kernel.parse_lines(text.buf, text.block.size, self.rules, columns, state)
            report = state.report[0]
            if report.width > width and not self.rules.fixed_width:
                self.budget.widen(int(report.width), text.line(int(report.widest_at)))
            elif report.error == kernel.FULL:
                scratch.uncertain = np.recarray(4 * scratch.uncertain.size, kernel.UNCERTAIN)
            else:
                return columns, state

    def allocate(self, text: TextBlock, width: int) -> kernel.ParsedColumns:
        """Return empty columns for the lines of a block, if memory allows it."""
        n = text.block.lines
        self.budget.check(n, width)
        X = allocate_pages(n * width, np.float32).reshape(n, width)
        return kernel.ParsedColumns(
            X=X,
            lines=np.recarray(n, kernel.LINE),
            comments=allocate_pages(text.buf.size, np.uint8),
        )

    def round_exactly(
        self, text: TextBlock, columns: kernel.ParsedColumns, uncertain: np.ndarray
    ) -> None:
        """Round the numbers that the kernel was uncertain about."""
        values: dict[bytes, float] = {}
        for start, stop, row, column in uncertain.tolist():
            token = text.buf[start:stop].tobytes()
            try:
                if column == kernel.LABEL:
                    columns.lines.digits[row] = rounding.exact_label(token.decode())
                    continue
                if token not in values:
                    values[token] = rounding.exact_value(
                        token.decode(), self.options.missing_marker
                    )
                columns.X[row, column] = values[token]
            except InputError as error:
                raise InputError(f"{self.path}, line {text.line(start)}: {error}") from None

    def text_ids(self, text: TextBlock, lines: np.recarray) -> np.ndarray:
        """Return the query ids of a block as text."""
        ids = []
        for start, stop in zip(lines.qid_start.tolist(), lines.qid_stop.tolist(), strict=True):
            raw = text.buf[start:stop].tobytes()
            try:
                ids.append(raw.decode())
            except UnicodeDecodeError:
                raise InputError(
                    f"{self.path}, line {text.line(start)}: the query id {raw!r} is not UTF-8, "
                    "expected UTF-8 text."
                ) from None
        return np.array(ids, dtype=np.str_)

    def error(self, text: TextBlock, code: int, at: int) -> InputError:
        """Return the error for the token at which the kernel stopped."""
        token = text.token(at)
        place = f"{self.path}, line {text.line(at)}"
        if code == kernel.TOO_WIDE:
            return errors.TooWide(place, token, int(self.options.n_features or 0))
        return InputError(f"{place}: {errors.reason(code, token)}")


def read_file(path: str, options: LetorOptions, n_jobs: int | None = None) -> Letor:
    """Read a whole file; an error leaves nothing behind."""
    with opened(path) as blocks:
        n_threads = max(1, min(threads(n_jobs), MAX_THREADS, blocks.estimated_count()))
        parser = Parser(blocks, options, n_threads)
        try:
            _run(parser, n_threads)
            if parser.budget.rows == 0:
                raise InputError(
                    f"{path} holds no documents, expected lines such as '0 qid:1 1:0.5'."
                )
            parts = [parser.parts.pop(number) for number in sorted(parser.parts)]
            return join(parts, parser.budget.width, options.fill_value, n_threads)
        except MemoryError:
            raise parser.budget.refused() from None


def _run(parser: Parser, n_threads: int) -> None:
    """Parse all blocks on several threads, and raise the first error of the file."""
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for done in [pool.submit(parser.work) for _ in range(n_threads)]:
                done.result()
        finally:
            parser.blocks.done = True  # after an error, the other threads stop
    if parser.blocks.errors:
        raise parser.blocks.errors[min(parser.blocks.errors)]


def _labels(lines: np.recarray) -> np.ndarray:
    """Return digits * 10**power: both are exact, so that labels are rounded once."""
    y, power = lines.digits.copy(), lines.power
    if power.any():
        ten = POWER_OF_TEN[MAX_POWER + np.abs(power)]
        np.multiply(y, ten, out=y, where=power > 0)
        np.divide(y, ten, out=y, where=power < 0)
    return y
