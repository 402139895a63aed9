"""Where pip put NVIDIA's cuSOLVER, for `Options(linear_solver="cusolver")`."""

import importlib.util
import os
from pathlib import Path

VARIABLE = "STICTION_CUSOLVER"  # the library that the engine opens


def packaged() -> Path | None:
    """The library of the package nvidia-cusolver beside this Python; None: there is none."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for library in ("cu[0-9]*/lib/libcusolver.so.1?", "cusolver/lib/libcusolver.so.1?"):
            for path in sorted(Path(folder).glob(library), reverse=True):
                return path
    return None


def tell_engine() -> None:
    """What the user has named comes first, then pip's package; the engine knows other places."""
    if VARIABLE not in os.environ and (found := packaged()):
        os.environ[VARIABLE] = str(found)
