"""Let ``python -m rankwood`` do what ``rankwood`` does."""

from rankwood.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
