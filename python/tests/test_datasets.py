"""Data sets and files: the same as from elsewhere, and clear errors."""

import os
from pathlib import Path

import lkdl
import numpy as np
import pytest
from lkdl import datasets
from sklearn.datasets import load_digits as sklearn_digits


def test_digits_are_those_of_scikit_learn():
    ours, theirs = datasets.load_digits(), sklearn_digits()
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.target, theirs.target)
    np.testing.assert_array_equal(ours.images, theirs.images)
    assert ours.images.base is not None, "images are a view"
    X, y = datasets.load_digits(return_X_y=True)
    np.testing.assert_array_equal(X, ours.data)
    np.testing.assert_array_equal(y, ours.target)


def test_a_csv_with_text_labels_keeps_names_and_classes(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("length,width,class\n1,2.5,rose\n3,4,aster\n5,6,rose\n")
    flowers = datasets.load(path)
    np.testing.assert_array_equal(flowers.data, [[1, 2.5], [3, 4], [5, 6]])
    np.testing.assert_array_equal(flowers.target, ["rose", "aster", "rose"])
    assert flowers.feature_names == ["length", "width"]
    assert set(flowers.target_names) == {"aster", "rose"}
    assert "images" not in flowers


def test_numpy_files_come_back_as_they_were_written(tmp_path):
    X = np.random.default_rng(0).standard_normal((7, 3))
    np.savez(tmp_path / "set.npz", X=X, y=np.arange(7) % 2)
    data, target = datasets.load(str(tmp_path / "set.npz"), return_X_y=True)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(target, np.arange(7) % 2)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"name": "uspss"}, "did you mean usps"),
        ({"name": "digits", "part": "train"}, "digits"),
        ({"name": "usps", "part": "half"}, "usps:train"),
    ],
)
def test_names_that_are_not_known_are_refused_with_the_known_ones(arguments, problem):
    with pytest.raises(lkdl.LkdlError, match=problem):
        datasets.load(**arguments)


def test_a_set_that_is_not_there_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("LKDL_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(lkdl.LkdlError, match=str(tmp_path / "here")):
        datasets.load("usps", tmp_path / "here")


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="missing.csv"):
        datasets.load(tmp_path / "missing.csv")


@pytest.mark.skipif(
    not Path(os.environ.get("LKDL_DATA_DIR", ""), "usps/usps.bz2").is_file()
    or not os.environ.get("LKDL_DATA_DIR"),
    reason="LKDL_DATA_DIR has no USPS",
)
def test_parts_of_a_named_set_are_the_known_ones():
    test = datasets.load("usps", part="test")
    assert test.images.shape == (2007, 16, 16)
    counts = np.bincount(test.target)
    np.testing.assert_array_equal(counts, [359, 264, 198, 166, 200, 160, 170, 147, 166, 177])
