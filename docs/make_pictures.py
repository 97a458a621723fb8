"""Draw the pictures of the documentation: python docs/make_pictures.py.

A heat map of the pair weights of each objective at cutoff 3, in a list of 10 documents, and the pair counts against the
cutoff. The same version of matplotlib writes the same bytes.
"""

from pathlib import Path

from PIL import Image

from rankwood.diagnosis import has_cutoff
from rankwood.objectives.named import OBJECTIVES
from rankwood.report import plots

FOLDER = Path(__file__).parent / "pictures"
DOCUMENTS, CUTOFF, COLOURS = 10, 3, 100
# Lambda-eX has thirty names: three losses times how it chooses documents.
NAMES = [name for name in OBJECTIVES if "-ex" not in name or name.endswith("-static")]
NAMES = [name for name in NAMES if not name.endswith("-all-static")]
COUNTED = ("bin-ranknet", "lambdarank-arpk", "lambdagap-x", "lambdagap-x+", "lambdarank-p")
COUNTED = (*COUNTED, "lambdagap-s+", "lambdagap-s")


def main() -> None:
    """Draw everything."""
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        write(plots.heat_map(with_cutoff(name), n=DOCUMENTS), f"{name}.png")
    write(plots.pair_curves(*COUNTED, n=DOCUMENTS), "pair-counts.png")
    family = ("lambdarank-p", "lambdagap-s", "lambdagap-x")
    write(plots.heat_map(*map(with_cutoff, family), n=DOCUMENTS), "precision-family.png")


def with_cutoff(name: str) -> str:
    """Return an objective at the cutoff of the pictures, where it has one."""
    return f"{name}@{CUTOFF}" if has_cutoff(name) else name


def write(figure, name: str) -> None:
    """Write a picture with as many colours as it needs: a quarter of the size."""
    path = FOLDER / name
    plots.save(figure, path)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
