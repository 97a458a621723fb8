"""Where things are in a checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TESTS = ROOT / "tests"
OLD_FILES = TESTS / "old_files"
GOLDEN = TESTS / "oracles" / "golden.json"
