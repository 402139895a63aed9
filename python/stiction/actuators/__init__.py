"""Models of actuators that are computed before each physics step: `actuators` of a stiction.TermTask.

    actuators = {"legs": DcMotor(".*_leg", kp=25, kd=0.5, limit=23.5, saturation=23.5, no_load_speed=30, delay=(0, 4))}

docs/actuators.md says which one, with numbers and sources.
"""

from .actuator import Actuator
from .motors import DcMotor, Pd, SpeedLimited
from .network import Lstm, LstmNetwork, Mlp, Network
from .servo import SERVOS, Servo

__all__ = ["SERVOS", "Actuator", "DcMotor", "Lstm", "LstmNetwork", "Mlp", "Network", "Pd", "Servo", "SpeedLimited"]
