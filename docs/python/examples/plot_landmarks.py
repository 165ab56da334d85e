"""
Which landmarks
===============

The Nyström method approximates a kernel matrix from c of its columns. Which ones matters: chosen
well, about half as many do for the same error.
"""

import matplotlib.pyplot as plt
from lkdl import Nystroem, plot
from lkdl.datasets import load_digits
from sklearn.preprocessing import normalize

X = normalize(load_digits(return_X_y=True)[0])
counts = [10, 20, 40, 80, 160, 320]


def error(sampler, n_components, seed):
    mapper = Nystroem(
        kernel="rbf",
        gamma=2.0,
        n_components=n_components,
        sampler=sampler,
        random_state=seed,
    )
    return mapper.fit(X).approximation_error_


errors = {
    sampler: {c: [error(sampler, c, seed) for seed in range(3)] for c in counts}
    for sampler in ["uniform", "k-means++", "rpcholesky", "hybrid"]
}
ax = plot.error_against_landmarks(errors)
ax.set_xscale("log")
plt.show()
