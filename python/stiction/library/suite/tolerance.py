"""dm_control's reward: 1 within bounds, and less the farther outside."""

import math

from ...arrays import namespace_of


def _falling(xp, x, value, sigmoid):
    """1 at x = 0, `value` at |x| = 1."""
    if sigmoid == "gaussian":
        return xp.exp(math.log(value) * x * x)
    if sigmoid == "linear":
        return xp.clip(1 - (1 - value) * abs(x), 0, 1)
    if sigmoid == "quadratic":
        return xp.clip(1 - (1 - value) * x * x, 0, 1)
    if sigmoid == "long_tail":
        return 1 / (1 + (1 / value - 1) * x * x)
    raise ValueError(f"sigmoid = {sigmoid!r}: must be 'gaussian', 'linear', 'quadratic' or 'long_tail'")


def tolerance(x, low=0.0, high=0.0, margin=0.0, sigmoid="gaussian", value_at_margin=0.1):
    """1 where low <= x <= high; outside `value_at_margin` at the distance `margin` and less beyond, by the shape `sigmoid`;
    0 outside where margin is 0. Arrays of NumPy or torch."""
    xp = namespace_of(x)
    outside = xp.clip(low - x, 0, None) + xp.clip(x - high, 0, None)
    if margin == 0:
        return xp.where(outside > 0, xp.zeros_like(outside), xp.ones_like(outside))
    return _falling(xp, outside / margin, value_at_margin, sigmoid)
