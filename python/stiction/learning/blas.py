"""One thread for NumPy's matrix products."""

import ctypes
import os

_SETTERS = (
    "scipy_openblas_set_num_threads64_",  # in NumPy's wheels
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def use_one_blas_thread():
    """Networks this small lose on several threads, which also spin against the simulator's.

    NumPy has no function for it, and the environment variable is read when NumPy is imported: the
    loaded OpenBLAS is asked itself. A number that the user has set stays.
    """
    if "OPENBLAS_NUM_THREADS" in os.environ:
        return
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "openblas" in line}
    except OSError:
        return
    for path in paths:
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if hasattr(library, name):
                getattr(library, name)(1)
