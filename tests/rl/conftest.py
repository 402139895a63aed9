"""Tests of the layer that trains: what they need beyond the ordinary environment."""

import importlib.util

import pytest


def pytest_runtest_setup(item):
    """@pytest.mark.train("torch", ...): skipped, and counted, where that is not installed."""
    marker = item.get_closest_marker("train")
    missing = [m for m in (marker.args if marker else ()) if importlib.util.find_spec(m) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: ./dev setup --train")
