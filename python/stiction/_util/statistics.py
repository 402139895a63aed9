"""Numbers about rollouts."""

import numpy as np

from .._core import Status

FROZEN = int(Status.bad_state | Status.cholesky_failed | Status.velocity_limit)


def status_counts(status) -> dict[str, int]:
    """Steps per status bit that occurred: {"stalled": 12}."""
    status = np.asarray(status)
    counts = {s.name: int(np.count_nonzero(status & int(s))) for s in Status if int(s)}
    return {name: n for name, n in counts.items() if n}
