"""What is collected: examples of modules whose extra is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("dask") else ["python/lkdl/dask"]
