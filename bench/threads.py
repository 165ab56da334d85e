"""One thread count for everybody. Imported before NumPy: libraries read these variables at load."""

import os

N_THREADS = int(os.environ.get("LKDL_BENCH_THREADS", "2"))

for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
):
    os.environ[_variable] = str(N_THREADS)
