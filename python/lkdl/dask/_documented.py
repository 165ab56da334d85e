"""Documentation of estimators on Dask: their own, and what they share with the ordinary ones."""

from __future__ import annotations

from ._lazy import ordinary

_PARAMETERS = """    pilot_size : int, default=20000
        Samples, drawn from all blocks, that are looked at first, on the machine that calls ``fit``;
        at least `n_components`, and with labels 50 of every class, if there are so many.
"""
_CLIENT = """    Attributes
    ----------
    client : distributed.Client or None
        To be set, and no argument: the client to compute with, which no copy has. The current one by
        default; Dask's own scheduler without any.
"""
# What the ordinary estimators say that is otherwise here.
_OTHERWISE = {
    "Threads; ``None`` and -1 are all cores.": "Threads of a task: ``None`` are those of its worker, "
    "and all cores without one; -1 are all cores.",
    "``precomputed``, or a function": "or a function",
    "sampler : str or array of shape (n_components,)": "sampler : str",
    "``coreset`` and others; or the\n        indices of the samples to take.": "``coreset`` and others.",
    "each in a random order.": "each in the order of the blocks.",
    "by default random samples, of the first block for :meth:`partial_fit`.": "by default samples of "
    "the pilot.",
    ", measured on\n        at most 1,000 of them, evenly spaced. :meth:`residual_energy` has it for\n        every "
    "sample.": "; see above.\n        :meth:`residual_energy` has it for every sample.",
}


def documented(cls: type) -> type:
    """The class with its arguments and attributes documented: its own, and those of the one it extends."""
    heading = "Parameters\n    ----------\n"
    own, _, rest = (cls.__doc__ or "").partition(heading)
    inherited = (ordinary(cls).__doc__ or "").partition(heading)[2].partition("    Examples\n")[0]
    text = own.rstrip() + "\n\n    " + heading + _PARAMETERS + (rest or inherited)
    for there, here in _OTHERWISE.items():
        text = text.replace(there, here)
    cls.__doc__ = text.replace("    Attributes\n    ----------\n", _CLIENT).rstrip() + "\n    "
    return cls
