"""Pictures: what is drawn, that files are the same each time, and the command that writes them."""

import builtins
import json
import subprocess
import sys

import numpy as np
import pytest

import rankwood as rw
from rankwood.cli import main
from rankwood.diagnostics import heat
from rankwood.report import plots


def drawn(ax):
    """The weights behind a heat map; not used ones are 0, the diagonal is omitted."""
    (mesh,) = ax.collections
    weights = np.ma.filled(mesh.get_array(), 0.0)
    return weights - np.diag(np.diag(weights))


def test_heat_maps_show_the_weights_on_one_scale():
    figure = plots.heat_map("lambdarank-p@3", "lambdagap-x+@3", n=6)
    one, two, bar = figure.axes
    np.testing.assert_array_equal(drawn(one), heat("lambdarank-p@3", 6))
    np.testing.assert_array_equal(drawn(two), heat("lambdagap-x+@3", 6))
    assert one.collections[0].get_clim() == two.collections[0].get_clim() == (0.0, 2.0)
    assert [ax.get_title() for ax in (one, two)] == ["lambdarank-p@3", "lambdagap-x+@3"]
    assert one.get_ylim() == (6.5, 0.5)  # the first position is on top
    assert [t.get_text() for t in one.get_xticklabels()] == list("123456")
    assert "position" in one.get_xlabel() and "relevant" in one.get_ylabel()
    assert "weight" in bar.get_ylabel()


def test_many_maps_and_long_lists():
    figure = plots.heat_map(*[f"lambdagap-s@{k}" for k in range(1, 6)], n=3)
    assert len(figure.axes) == 9  # two rows of four, and the scale
    assert not figure.axes[7].axison
    figure = plots.heat_map(rw.objective("lambdagap-s@2"), n=15)
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()][:3] == ["1", "2", "4"]
    assert figure.axes[0].get_title().endswith("...")


def test_pair_curves():
    (ax,) = plots.pair_curves("lambdagap-x", "ranknet", n=5).axes
    gap, net, _ = ax.get_lines()
    assert gap.get_xdata().tolist() == [1, 2, 3, 4, 5]
    assert gap.get_ydata().tolist() == [10, 6, 3, 1, 0]
    assert net.get_ydata().tolist() == [10] * 5
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["lambdagap-x", "ranknet"]
    assert gap.get_color() != net.get_color() and gap.get_marker() != net.get_marker()
    assert len(plots.overview("lambdagap-x@2", n=4).axes) == 3


def test_curves_of_a_record():
    record = {"effective_pairs": [0.3, 0.2], "seconds_trees": [1.0, 2.0]}
    figure = plots.curve(record)
    assert [len(ax.get_lines()) for ax in figure.axes] == [1, 1]
    assert figure.axes[0].get_lines()[0].get_ydata().tolist() == [0.3, 0.2]
    assert figure.axes[1].get_xlabel() == "round"
    figure = plots.curve({"a": record, "b": {"effective_pairs": [0.1]}}, "effective_pairs")
    assert len(figure.axes[0].get_lines()) == 2
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["a", "b"]
    with pytest.raises(rw.InputError, match="no curve 'effective'; did you mean 'effective_pairs'"):
        plots.curve(record, "effective")
    with pytest.raises(rw.InputError, match="nothing was recorded"):
        plots.curve({})
    with pytest.raises(rw.InputError, match="nothing to draw"):
        plots.heat_map()


@pytest.mark.parametrize(
    "ending, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_the_same_picture_is_the_same_file(tmp_path, ending, start):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        plots.save(plots.heat_map("lambdagap-s@2", n=4), path)
    one, two = (path.read_bytes() for path in paths)
    assert one == two and one.startswith(start)


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(rw.InputError, match=r"expected a name that ends in \.pdf, \.png, \.svg"):
        plots.save(plots.heat_map("ranknet", n=3), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_settings_of_the_user_stay():
    code = (
        "import matplotlib as m\n"
        "m.rcParams['font.size'] = 33; before = m.rcParams.copy()\n"
        "from rankwood.report import plots; import io, sys\n"
        "plots.heat_map('ranknet', n=3)\n"
        "assert str(m.rcParams.copy()) == str(before) and 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_matplotlib(monkeypatch, capsys):
    real = builtins.__import__

    def without(name, *args, **more):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["objectives", "--plot", "ranknet"]) == 1
    assert "pip install 'rankwood[plots]'" in capsys.readouterr().err


def test_the_command_draws_two_pictures(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["objectives", "--plot", "lambdagap-x+@2", "--documents", "5"]) == 0
    out = capsys.readouterr().out
    for name in ("lambdagap-x+@2-heat.png", "lambdagap-x+@2-pairs.png"):
        assert name in out and (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    (tmp_path / "there").mkdir()
    words = ["objectives", "--plot", "lambdagap-x+@2(mu=2.0)", "--output", "there", "--json"]
    assert main(words) == 0
    pictures = json.loads(capsys.readouterr().out)["pictures"]
    assert pictures == [f"there/lambdagap-x+@2_mu=2.0-{kind}.png" for kind in ("heat", "pairs")]
    assert all((tmp_path / path).is_file() for path in pictures)


def test_the_command_draws_one_picture(tmp_path, capsys):
    path = tmp_path / "x.svg"
    assert main(["objectives", "lambdagap-x@2", "--plot", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    assert path.read_text().startswith("<?xml")
    for words, text in {
        ("lambdagap-x@2", "--plot", str(tmp_path / "x.gif")): "expected a file name that ends in",
        ("lambdagap-x@2", "--plot", str(tmp_path / "no" / "x.png")): "there is no directory",
        ("lambdagap-x@2", "--plot", str(path), "--output", "a"): "--output is for",
        ("--plot", "lambdagap-z@2"): "unknown objective 'lambdagap-z'",
        ("--documents", "5"): "--documents is about pictures",
    }.items():
        assert main(["objectives", *words]) == 1
        assert text in capsys.readouterr().err
