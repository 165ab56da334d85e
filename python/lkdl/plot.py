"""Pictures of dictionaries, codes, decisions and maps.

Every function draws into the axes it is given, or into new ones, and returns them; nothing is shown
or saved, and no global setting is touched. Needs matplotlib: ``pip install lkdl[plot]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["atoms", "codes_by_class", "error_against_landmarks", "residual_bars"]

#: Pixels between two tiles of a mosaic.
GAP = 1
CHOSEN, OTHER, WRONG = "#2a6f97", "#b9c6cf", "#c05746"


def atoms(
    dictionary: Any,
    *,
    shape: tuple[int, int] | None = None,
    n_columns: int | None = None,
    order: str = "given",
    ax: Axes | None = None,
) -> Axes:
    """Show atoms as one mosaic of images, each scaled to its own largest value.

    Atoms have no sign of their own; zero is grey in all of them.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_features) or fitted estimator
        Atoms as rows, or anything that has them as ``components_``.
    shape : (int, int), optional
        Rows and columns of pixels of one atom; square by default.
    n_columns : int, optional
        Atoms beside each other; about as many as below each other by default.
    order : {"given", "variance"}, default="given"
        "variance" puts smooth atoms first: those of the least total variation.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from lkdl import plot
    >>> ax = plot.atoms(np.eye(16), n_columns=4)
    >>> ax.images[0].get_array().shape
    (21, 21)
    """
    D = _matrix(getattr(dictionary, "components_", dictionary), "dictionary")
    height, width = _image_shape(shape, D.shape[1])
    if order == "variance":
        D = D[np.argsort(_variation(D.reshape(-1, height, width)), kind="stable")]
    elif order != "given":
        raise ValueError(f'order is {order!r}, but must be "given" or "variance"')
    n_columns = _count(n_columns or math.ceil(math.sqrt(len(D))), "n_columns")

    ax = _axes(ax)
    mosaic = _mosaic(D.reshape(-1, height, width), min(n_columns, len(D)))
    ax.imshow(mosaic, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
    ax.set_axis_off()
    return ax


def codes_by_class(
    codes: Any, y: ArrayLike, *, atom_classes: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Show how much every class uses every atom: the mean of the absolute codes of the class.

    Parameters
    ----------
    codes : array-like or SciPy sparse of shape (n_samples, n_atoms)
        Sparse codes, as ``transform`` of `SparseCoder` and `KSVD` gives them.
    y : array-like of shape (n_samples,)
        The class of every sample.
    atom_classes : array-like of shape (n_atoms,), optional
        The class each atom was learnt for; lines are drawn where it changes.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    codes = codes.toarray() if hasattr(codes, "toarray") else codes
    Gamma, y = np.abs(_matrix(codes, "codes")), np.asarray(y)
    if y.shape != (len(Gamma),):
        raise ValueError(
            f"y has shape {y.shape}, but must be one class per sample: ({len(Gamma)},)"
        )
    classes = np.unique(y)
    usage = np.stack([Gamma[y == label].mean(axis=0) for label in classes])

    ax = _axes(ax)
    image = ax.imshow(usage, aspect="auto", cmap="Blues", vmin=0, interpolation="nearest")
    ax.set(xlabel="atom", ylabel="class", yticks=range(len(classes)), yticklabels=classes)
    if atom_classes is not None:
        of_atom = np.asarray(atom_classes)
        if of_atom.shape != (usage.shape[1],):
            problem = (
                f"atom_classes has shape {of_atom.shape}, but there are {usage.shape[1]} atoms"
            )
            raise ValueError(problem)
        for j in np.flatnonzero(of_atom[1:] != of_atom[:-1]):
            ax.axvline(j + 0.5, color="#888888", linewidth=0.6)
    ax.figure.colorbar(image, ax=ax, label="mean |code|")
    return ax


def residual_bars(
    residuals: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    truth: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Show what the dictionary of every class leaves of one sample; the shortest bar decides.

    Parameters
    ----------
    residuals : array-like of shape (n_classes,)
        One row of ``classifier.residuals(X)``.
    classes : array-like of shape (n_classes,), optional
        Names below the bars, ``classifier.classes_``; 0, 1, … by default.
    truth : optional
        The true class. If another bar is shorter, that one is drawn in red.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    heights = np.asarray(residuals, dtype=float)
    if heights.ndim != 1 or not len(heights):
        raise ValueError(f"residuals has shape {heights.shape}, but must be those of one sample")
    names = np.arange(len(heights)) if classes is None else np.asarray(classes)
    if len(names) != len(heights):
        raise ValueError(f"there are {len(names)} classes, but {len(heights)} residuals")
    if truth is not None and truth not in names:
        raise ValueError(f"truth is {truth!r}, but must be one of {', '.join(map(str, names))}")
    chosen = int(np.argmin(heights))
    colours = [OTHER] * len(heights)
    colours[chosen] = CHOSEN if truth is None or names[chosen] == truth else WRONG

    ax = _axes(ax)
    ax.bar(range(len(heights)), heights, color=colours)
    ax.set_xticks(range(len(heights)), [str(name) for name in names])
    ax.set(xlabel="class", ylabel="residual", ylim=(0, None))
    if truth is not None:
        ax.get_xticklabels()[int(np.flatnonzero(names == truth)[0])].set_fontweight("bold")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def error_against_landmarks(
    errors: Mapping[str, Mapping[int, float | Sequence[float]]], *, ax: Axes | None = None
) -> Axes:
    """Show how the error of the kernel approximation falls with the number of landmarks, c.

    Parameters
    ----------
    errors : mapping of str to mapping of int to float or sequence of float
        For every curve its name (a sampler, say), and for every c the error, or the errors of
        several seeds: their mean is drawn, and a band of ± σ.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from lkdl import plot
    >>> ax = plot.error_against_landmarks({"uniform": {10: [0.5, 0.54], 20: [0.3, 0.33]}})
    >>> ax.lines[0].get_ydata().round(3)
    array([0.52 , 0.315])
    """
    if not errors or not all(errors.values()):
        raise ValueError("errors is empty, but must hold at least one error of one curve")
    ax = _axes(ax)
    for name, curve in errors.items():
        counts = sorted(curve)
        values = [np.atleast_1d(np.asarray(curve[c], dtype=float)) for c in counts]
        mean = np.array([v.mean() for v in values])
        spread = np.array([v.std(ddof=1) if len(v) > 1 else 0.0 for v in values])
        (line,) = ax.plot(counts, mean, marker="o", markersize=3, label=name)
        if spread.any():
            colour = line.get_color()
            ax.fill_between(
                counts, mean - spread, mean + spread, alpha=0.2, color=colour, linewidth=0
            )
    ax.set(xlabel="landmarks, c", ylabel="approximation error", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("lkdl.plot needs matplotlib: pip install lkdl[plot]") from missing
    return pyplot.subplots(layout="constrained")[1]


def _matrix(values: ArrayLike, name: str) -> np.ndarray:
    matrix = np.asarray(values, dtype=float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} has shape {matrix.shape}, but must be a matrix that is not empty")
    return matrix


def _count(value: int, name: str) -> int:
    if value < 1:
        raise ValueError(f"{name} is {value}, but must be at least 1")
    return value


def _image_shape(shape: tuple[int, int] | None, n_features: int) -> tuple[int, int]:
    if shape is None:
        side = math.isqrt(n_features)
        if side * side != n_features:
            problem = (
                f"atoms have {n_features} features, which is no square: give shape=(rows, columns)"
            )
            raise ValueError(problem)
        return side, side
    if shape[0] * shape[1] != n_features:
        raise ValueError(f"shape is {shape}, but atoms have {n_features} features")
    return shape


def _variation(images: np.ndarray) -> np.ndarray:
    """Total variation of every image, relative to its norm."""
    steps = sum(np.abs(np.diff(images, axis=axis)).sum(axis=(1, 2)) for axis in (1, 2))
    norms = np.linalg.norm(images, axis=(1, 2))
    return steps / np.where(norms > 0, norms, 1)


def _mosaic(images: np.ndarray, n_columns: int) -> np.ndarray:
    """Tiles with gaps around them, each divided by its largest absolute value."""
    n, height, width = images.shape
    n_rows = math.ceil(n / n_columns)
    mosaic = np.ones((n_rows * (height + GAP) + GAP, n_columns * (width + GAP) + GAP))
    for index, image in enumerate(images):
        row, column = divmod(index, n_columns)
        top, left = GAP + row * (height + GAP), GAP + column * (width + GAP)
        largest = np.abs(image).max()
        mosaic[top : top + height, left : left + width] = image / largest if largest else 0.0
    return mosaic
