"""Parts of a model by name or pattern."""

import re

import numpy as np

from .._core import ArgumentError
from .._util.nearest import hint


def select(known, patterns, what, where):
    """Indices of the names that match a pattern (a regular expression that fits the whole name) or one of several, in
    the order of the model; None: all. Refused where a pattern fits none."""
    if patterns is None:
        return np.arange(len(known))
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    chosen = np.zeros(len(known), bool)
    for pattern in patterns:
        try:
            fits = [re.fullmatch(pattern, name) is not None for name in known]
        except re.error as e:
            raise ArgumentError(f"{where}: {what} = {pattern!r}: no regular expression: {e}") from None
        if not any(fits):
            near = hint(pattern, known) or f"; there are {', '.join(known) or 'none'}"
            raise ArgumentError(f"{where}: no {what} fits {pattern!r}{near}")
        chosen |= fits
    return np.flatnonzero(chosen)


def as_slice(indices):
    """The same as a slice where they follow each other: views instead of copies."""
    indices = np.asarray(indices)
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def values_of(given, names, what, where):
    """One number for each name: of a number, of a sequence of as many, or of a dict from patterns to numbers, whose
    later entries win; names that none fits keep nan, which is refused."""
    if isinstance(given, dict):
        values = np.full(len(names), np.nan)
        for pattern, value in given.items():
            values[select(names, pattern, what, where)] = value
        missing = [n for n, v in zip(names, values) if np.isnan(v)]
        if missing:
            raise ArgumentError(f"{where}: {what}: no pattern fits {missing[0]!r}")
        return values
    values = np.asarray(given, float)
    if values.shape not in ((), (len(names),)):
        raise ArgumentError(f"{where}: {what}: given shape {values.shape}; expected one number or {len(names)}")
    return np.broadcast_to(values, len(names)).copy()
