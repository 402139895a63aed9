"""Sensors as objects: what a robot measures, with memory where the measurement has one.

A `stiction.TermTask` has them by name in its `sensors`; their numbers are arrays with a row for each environment, fresh
after a step and after a reset. docs/terms.md has a table.
"""

from .contact import ContactSensor
from .encoder import Encoder
from .imu import Imu
from .ray import HeightScan, RayCaster
from .sensor import Sensor

__all__ = ["ContactSensor", "Encoder", "HeightScan", "Imu", "RayCaster", "Sensor"]
