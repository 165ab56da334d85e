"""Pictures: what is drawn, and what is refused."""

import sys

import numpy as np
import pytest
from scipy import sparse

matplotlib = pytest.importorskip("matplotlib")
plot = pytest.importorskip("lkdl.plot")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_every_atom_has_its_tile_scaled_to_its_largest_value():
    D = np.array([[0, 2.0, 0, 0], [0, 0, -8.0, 4.0], [0, 0, 0, 0]])
    mosaic = plot.atoms(D, n_columns=2).images[0].get_array()
    assert mosaic.shape == (7, 7)
    np.testing.assert_array_equal(mosaic[1:3, 1:3], [[0, 1], [0, 0]])
    np.testing.assert_array_equal(mosaic[1:3, 4:6], [[0, 0], [-1, 0.5]])
    np.testing.assert_array_equal(mosaic[4:6, 1:3], np.zeros((2, 2)))  # an atom of zeros stays grey


def test_atoms_are_taken_from_an_estimator():
    class Fitted:
        components_ = np.ones((3, 6))

    assert plot.atoms(Fitted(), shape=(2, 3)).images[0].get_array().shape == (7, 9)


def test_smooth_atoms_come_first_by_variance():
    rough, smooth = np.tile([1.0, -1.0], 8), np.ones(16)
    mosaic = plot.atoms([rough, smooth], n_columns=2, order="variance").images[0].get_array()
    np.testing.assert_array_equal(mosaic[1:5, 1:5], np.ones((4, 4)))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"dictionary": np.ones(4)}, "shape"),
        ({"dictionary": np.ones((0, 4))}, "not empty"),
        ({"dictionary": np.ones((2, 6))}, "no square"),
        ({"dictionary": np.ones((2, 6)), "shape": (2, 2)}, "6 features"),
        ({"dictionary": np.ones((2, 4)), "order": "size"}, "order"),
        ({"dictionary": np.ones((2, 4)), "n_columns": -1}, "n_columns"),
    ],
)
def test_atoms_that_are_no_images_are_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        plot.atoms(**arguments)


def test_usage_of_atoms_is_the_mean_over_a_class():
    codes = np.array([[1.0, 0, 0], [-3, 0, 0], [0, 0, 5]])
    y = ["b", "b", "a"]
    ax = plot.codes_by_class(codes, y, atom_classes=["b", "b", "a"])
    np.testing.assert_array_equal(ax.images[0].get_array(), [[0, 0, 5], [2, 0, 0]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [line.get_xdata()[0] for line in ax.lines] == [1.5]
    same = plot.codes_by_class(sparse.csr_array(codes), y)
    np.testing.assert_array_equal(same.images[0].get_array(), ax.images[0].get_array())


def test_codes_and_classes_have_to_fit():
    with pytest.raises(ValueError, match="one class per sample"):
        plot.codes_by_class(np.ones((3, 2)), [0, 1])
    with pytest.raises(ValueError, match="2 atoms"):
        plot.codes_by_class(np.ones((3, 2)), [0, 1, 1], atom_classes=[0])


def test_the_shortest_bar_is_chosen_and_red_if_it_is_wrong():
    def colours(truth):
        bars = plot.residual_bars([3.0, 1.0, 2.0], classes=["x", "y", "z"], truth=truth).patches
        return [matplotlib.colors.to_hex(bar.get_facecolor()) for bar in bars]

    assert colours(None) == colours("y") == [plot.OTHER, plot.CHOSEN, plot.OTHER]
    assert colours("z") == [plot.OTHER, plot.WRONG, plot.OTHER]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"residuals": [[1.0, 2.0]]}, "one sample"),
        ({"residuals": []}, "one sample"),
        ({"residuals": [1.0], "classes": ["a", "b"]}, "2 classes"),
        ({"residuals": [1.0], "truth": 4}, "truth is 4"),
    ],
)
def test_residuals_that_are_not_of_one_sample_are_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        plot.residual_bars(**arguments)


def test_error_curves_have_a_band_where_there_are_seeds():
    ax = plot.error_against_landmarks(
        {"uniform": {20: [0.3, 0.5], 10: [0.6, 0.8]}, "greedy": {10: 0.1}}
    )
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[10, 0.7], [20, 0.4]])
    assert len(ax.collections) == 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["uniform", "greedy"]
    with pytest.raises(ValueError, match="at least one error"):
        plot.error_against_landmarks({"uniform": {}})


def test_axes_that_are_given_are_drawn_into():
    ax = pyplot.figure().add_subplot()
    assert plot.residual_bars([1.0, 2.0], ax=ax) is ax


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install lkdl\[plot\]"):
        plot.atoms(np.eye(4))
