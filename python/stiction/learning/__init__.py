"""Training on the CPU with NumPy alone, playing policies, and what `stiction train | play` do."""

import os as _os
import sys as _sys


def _one_blas_thread():
    """Networks this small lose on several BLAS threads, which also spin against the simulator's.

    NumPy reads the variables when it is first imported; after that only threadpoolctl helps.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        _os.environ.setdefault(name, "1")
    if "numpy" in _sys.modules:
        try:
            from threadpoolctl import threadpool_limits
        except ImportError:
            return
        threadpool_limits(1, "blas")


_one_blas_thread()
