"""Codes as arrays: dense, or sparse in the form that scikit-learn is set to."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config


def codes(coded: tuple[Any, ...], n_atoms: int, as_sparse: bool) -> Any:
    """Codes of the engine, one per row."""
    offsets, atoms, values, _ = coded
    shape = (len(offsets) - 1, n_atoms)
    if as_sparse:
        wanted = get_config().get("sparse_interface", "sparray")
        form = sparse.csr_matrix if wanted == "spmatrix" else sparse.csr_array
        return form((values, atoms, offsets), shape=shape)
    dense = np.zeros(shape, dtype=values.dtype)
    dense[np.repeat(np.arange(shape[0]), np.diff(offsets)), atoms] = values
    return dense
