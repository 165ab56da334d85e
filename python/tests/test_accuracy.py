"""The product without an argument, on real data."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from lkdl import _core
from sklearn.model_selection import StratifiedKFold, cross_val_score


def test_digits_by_cross_validation(digits):
    X, y = digits
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(lkdl.LKDLClassifier(), X, y, cv=folds).mean() >= 0.985


def load(name, data_dir, limit=None):
    X, (labels, names), *_ = _core.read(name, str(data_dir))
    return X[:limit], np.array(names)[labels][:limit]


@pytest.mark.parametrize("name, limit, bar", [("usps", None, 0.955), ("mnist", 10_000, 0.974)])
def test_real_sets_reach_their_bars(name, limit, bar, data_dir):
    model = lkdl.LKDLClassifier().fit(*load(f"{name}:train", data_dir, limit))
    accuracy = model.score(*load(f"{name}:test", data_dir))
    assert accuracy >= bar, (accuracy, model.choice_, model.settings_)


def test_the_published_settings_reach_the_bar_of_mnist(data_dir):
    model = lkdl.LKDLClassifier(
        map="nystroem", n_landmarks=1000, n_atoms=700, sparsity=11, max_iter=2
    ).fit(*load("mnist:train", data_dir, 10_000))
    assert model.score(*load("mnist:test", data_dir)) >= 0.974
