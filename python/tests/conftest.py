"""Data and programs that several tests share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 images of 8×8 pixels."""
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def few(digits) -> tuple[np.ndarray, np.ndarray]:
    """300 of them: enough to learn something from, and quick."""
    X, y = digits
    return np.ascontiguousarray(X[:300]), y[:300]


@pytest.fixture(scope="session")
def command() -> str:
    """The command `lkdl`, built by cargo or installed."""
    built = [ROOT / "target" / profile / "lkdl" for profile in ("release", "debug")]
    found = [os.environ.get("LKDL_COMMAND"), *(str(p) for p in built if p.exists())]
    found.append(shutil.which("lkdl"))
    program = next((program for program in found if program), None)
    if program is None:
        pytest.skip("the command is not built: cargo build --release -p lkdl-cli")
    return program


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Where the real sets are."""
    folder = os.environ.get("LKDL_DATA_DIR")
    if not folder:
        pytest.skip("LKDL_DATA_DIR names no folder of data")
    return Path(folder)
