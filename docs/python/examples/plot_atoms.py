"""
A dictionary of digits
======================

K-SVD learns atoms such that a few of them add up to any sample. Handwritten digits of 8×8 pixels are
coded by four strokes each, and classes show in which strokes they use.
"""

import matplotlib.pyplot as plt
import numpy as np
from lkdl import KSVD, plot
from lkdl.datasets import load_digits
from sklearn.preprocessing import normalize

X, y = load_digits(return_X_y=True)
X = normalize(X)
ksvd = KSVD(60, sparsity=4, max_iter=30, random_state=0).fit(X)
codes = ksvd.transform(X)
error = np.linalg.norm(X - ksvd.inverse_transform(codes)) / np.linalg.norm(X)
print(
    f"{np.count_nonzero(codes) / len(X):.1f} atoms per sample, relative error {error:.2f}"
)

# %%
# Atoms, smooth ones first. White adds ink, black takes it away.

plot.atoms(ksvd, n_columns=12, order="variance")
plt.show()

# %%
# Nobody told K-SVD about classes; their codes differ all the same.

plot.codes_by_class(codes, y)
plt.show()
