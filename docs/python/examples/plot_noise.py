"""
Noise and missing pixels
========================

A classifier that learnt from clean digits meets spoiled ones. A kernel of degree two or a Gaussian
keeps more of its accuracy than a linear dictionary, and virtual samples make that affordable.
"""

import matplotlib.pyplot as plt
import numpy as np
from lkdl import LKDLClassifier
from lkdl.datasets import load_digits
from sklearn.model_selection import train_test_split

X, y = load_digits(return_X_y=True)
X /= 16
X_train, X_test, y_train, y_test = train_test_split(
    X, y, random_state=0, stratify=y
)
classifiers = {
    "kernel (LKDL)": LKDLClassifier(random_state=0).fit(X_train, y_train),
    "linear": LKDLClassifier(map="none", random_state=0).fit(X_train, y_train),
}

# %%
# Two ways to spoil a sample: Gaussian noise on every pixel, or pixels lost, that is set to paper white.

rng = np.random.default_rng(0)
spoil = {
    "noise, σ": (
        [0, 0.2, 0.4, 0.6, 0.8],
        lambda level: X_test + rng.normal(0, level, X_test.shape),
    ),
    "share of pixels lost": (
        [0, 0.2, 0.4, 0.6, 0.8],
        lambda share: np.where(rng.random(X_test.shape) < share, 0, X_test),
    ),
}
figure, axes = plt.subplots(
    1, 2, figsize=(8, 3.2), sharey=True, layout="constrained"
)
for ax, (title, (levels, spoiled)) in zip(axes, spoil.items()):
    samples = [spoiled(level) for level in levels]
    for name, classifier in classifiers.items():
        ax.plot(
            levels,
            [100 * classifier.score(X, y_test) for X in samples],
            "o-",
            label=name,
        )
    ax.set(xlabel=title, ylim=(0, 102))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("accuracy, %")
axes[0].legend(frameon=False)
plt.show()
