"""Draw the pictures of the documentation: python docs/make_pictures.py, with names of objectives for only those.

For objectives of pairs a heat map of the pair weights, at cutoff 3 in a list of 10 documents; where the ranking is
noisy, the mean over many draws beside it. For objectives of a list what they push in a small one. For
StochasticRank the metric as noise smooths it. And the pair counts against the cutoff. The same version of matplotlib
writes the same bytes.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import rankwood as rw
from rankwood.data.labels import labels_and_groups
from rankwood.diagnostics import heat
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.inspection import single_use_computer, weights_only
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.position_weights import has_cutoff
from rankwood.render import plots as drawing
from rankwood.render.curve import Curve
from rankwood.render.marks import Bars, Line, Rule
from rankwood.render.plots import LEGEND, Panel, PanelGrid, PlotAxis
from rankwood.report import plots

FOLDER = Path(__file__).parent / "pictures"
DOCUMENTS, CUTOFF, COLOURS = 10, 3, 100
DRAWS = 2000
# Lambda-eX has thirty names: three losses times how it chooses documents.
NAMES = [name for name in OBJECTIVES if "-ex" not in name or name.endswith("-static")]
NAMES = [name for name in NAMES if not name.endswith("-all-static")]
COUNTED = ("bin-ranknet", "lambdarank-arpk", "lambdagap-x", "lambdagap-x+", "lambdarank-p")
COUNTED = (*COUNTED, "lambdagap-s+", "lambdagap-s")
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#aaaaaa"
#: A small list, best score first.
LABELS = [0, 2, 0, 1, 0, 0, 1, 0]
SCORES = [1.6, 1.2, 0.9, 0.5, 0.1, -0.4, -0.8, -1.3]
#: What a user preferred in it: a winner, a loser, a weight.
PAIRS = [[1, 0, 2.0], [3, 2, 1.0], [6, 5, 0.5]]


def main(names: list[str]) -> None:
    """Draw everything, or what belongs to these names."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or NAMES:
        write(picture(name), f"{name}.png")
    if names:
        return
    write(plots.pair_curves(*COUNTED, n=DOCUMENTS), "pair-counts.png")
    family = ("lambdarank-p", "lambdagap-s", "lambdagap-x")
    write(plots.heat_map(*map(with_cutoff, family), n=DOCUMENTS), "precision-family.png")


def picture(name: str):
    """Return the figure of an objective."""
    if name.startswith("yeti"):
        return noisy_map(name)
    if name.startswith("stochasticrank-"):
        return smoothed(name)
    if isinstance(rw.objective(with_cutoff(name)), Lambda):
        return plots.heat_map(with_cutoff(name), n=DOCUMENTS)
    return pushes(name)


def noisy_map(name: str):
    """Return the pair weights of one ranking and their mean over noisy ones; scores are 1 apart."""
    cut = name in ("yetiloss-ndcg", "yetiloss-dcg", "yetiloss-p", "yetiloss-arpk")
    shown = f"{name}@{CUTOFF}" if cut else name
    titles = (f"{shown}, no noise", "mean under logistic noise")
    maps = [heat(shown), mean_heat(f"{shown}(permutations={DRAWS})")]
    return plots.draw_maps(titles, maps)


def mean_heat(name: str) -> np.ndarray:
    """Return what `heat` does, as the mean over the noisy rankings that the objective draws."""
    n = DOCUMENTS
    y, groups = labels_and_groups(np.eye(n).ravel(), None, np.full(n, n))
    scores = np.tile(np.arange(n, 0.0, -1.0), n)
    computer = single_use_computer(weights_only(rw.objective(name)), y, groups)
    weights = computer(scores)[1].reshape(n, n)
    weights = np.maximum(weights, 1e-9)  # no pair is impossible, only unlikely
    np.fill_diagonal(weights, 0.0)
    return weights


def pushes(name: str):
    """Return what an objective pushes in a small list, beside what LambdaRank does; the largest push is 1."""
    place, marks = np.arange(1, len(LABELS) + 1), []
    small = rw.RankingData(np.zeros((len(LABELS), 1)), LABELS, pairs=PAIRS)
    for who, colour, shift in ((name, BLUE, -0.2), ("lambdarank-ndcg", GREY, 0.2)):
        push = -np.mean(
            [rw.gradients(who, small, SCORES, round=r)[0] for r in range(rounds(who))], 0
        )
        marks.append(Bars(place + shift, push / np.abs(push).max(), 0.4, colour, label=who))
    marks.append(Rule(0, colour="black"))
    texts = [f"{p}\nlabel {y}" if y else f"{p}" for p, y in zip(place, LABELS, strict=True)]
    x = PlotAxis("position", ticks=dict(zip(place.tolist(), texts, strict=True)))
    y_scale = PlotAxis("push (up: above 0)", ends=(-1.15, 1.15))
    panel = Panel(marks, x, y_scale, legend={**LEGEND, "loc": "lower right"})
    return drawing.draw_panels([panel], PanelGrid(4.6, 2.7))


def rounds(name: str) -> int:
    """Return how many rounds to look at: the targets of XE-NDCG are drawn in each."""
    return DRAWS if name == "xendcg" else 1


def smoothed(name: str):
    """Return the mean of the metric over noisy rankings as one document's score moves, by the size of the noise."""
    metric = name.removeprefix("stochasticrank-")
    others = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
    y = [3, 0, 1, 0, 2, 0]
    at = np.linspace(-4, 4, 161)
    noise = np.random.default_rng(0).normal(size=(DRAWS, 1 + others.size))
    lines = []
    for scale, colour in ((0.0, GREY), (0.25, GREEN), (1.0, BLUE), (2.0, ORANGE)):
        draws = noise if scale else noise[:1]
        lists = np.stack([np.r_[x, others] + scale * draws for x in at])
        queries = lists.shape[0] * lists.shape[1]
        spec = f"{metric}(gain='linear')" if metric in ("err", "pfound") else metric
        evaluation = rw.evaluate(
            spec, np.tile(y, queries), lists.ravel(), group=np.full(queries, len(y))
        )
        values = evaluation.per_query[spec].reshape(lists.shape[:2]).mean(1)
        label = f"noise {scale:g}" if scale else "the metric"
        lines.append(Line(Curve(label, at, values), colour))
    x = PlotAxis("score of one document (others at 2, 1, 0, −1, −2)")
    beside = {**LEGEND, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    panel = Panel(lines, x, PlotAxis(f"mean {metric.upper()}"), legend=beside)
    return drawing.draw_panels([panel], PanelGrid(4.6, 2.7))


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
    main(sys.argv[1:])
