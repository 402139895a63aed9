"""Servos with a firmware's position control, a motor and the friction of their gears, as identified by Rhoban's BAM."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._core import ArgumentError
from .._util.nearest import hint
from ..arrays import namespace
from .actuator import Actuator


@dataclass(frozen=True)
class Parameters:
    """Numbers of a servo; the law is in `Servo`. Units: N m, V, Ω, rad, s."""

    kt: float  # N m/A, and V s/rad
    resistance: float
    armature: float  # kg m², of the rotor at the joint
    friction_base: float
    friction_viscous: float
    vin: float
    kp: float  # of the firmware
    error_gain: float  # duty per kp and rad
    max_pwm: float = 1.0
    friction_stribeck: float = 0.0
    load_motor: float = 0.0
    load_external: float = 0.0
    load_motor_stribeck: float = 0.0
    load_external_stribeck: float = 0.0
    load_motor_quadratic: float = 0.0
    load_external_quadratic: float = 0.0
    speed_stribeck: float = 1.0
    alpha: float = 1.0


# github.com/Rhoban/bam, bam/params at 1b5a1cee (Apache-2.0; M. Duclusaud, G. Passault): m6 of the Dynamixels, m1 of the STS3215, and
# what the firmware does from bam/dynamixel/actuator.py, bam/feetech/actuator.py
SERVOS = {
    "mx64": Parameters(
        1.6016832750318712, 2.3164043271967447, 0.012265893049213158, 6.217919698787649e-07, 0.02533701181690149,
        15.0, 32.0, 0.158, 0.9625, 0.12269525980968875, 0.3114720375111298, 2.0462014258729542e-08,
        0.18774381222411038, 0.014065853481003015, 0.006908512882777861, 0.009999980627672081, 2.575277366960116,
        0.8409018066017007,
    ),
    "mx106": Parameters(
        2.209828156174588, 2.033661749312417, 0.026016184370993383, 1.0232526438525893e-05, 0.05071566473605552,
        15.0, 32.0, 0.158, 0.9625, 0.12195409579603411, 0.19800553725822115, 0.022215529897348624,
        0.19859970173941574, 0.08710328264676681, 0.009999930103371748, 7.326919843140997e-05, 1.7463251741328727,
        1.142827788004191,
    ),
    "xl320": Parameters(
        1.0088269677439867, 31.585877261639528, 0.0011629864934131363, 4.333784350288425e-07, 0.007225172246502409,
        7.5, 32.0, 0.05048199, 1.0, 0.016305511369376878, 3.0882140904620497e-06, 0.158325301089096,
        5.965719077390517e-09, 0.24548304071888186, 0.0036164099909151977, 0.00471092869180762, 2.3010537332753387,
        1.7067361543333317,
    ),
    "xl330": Parameters(
        0.36601349688984386, 2.8113923539223227, 0.0018077432831600838, 0.004771183165566, 0.005359668274599504,
        7.5, 400.0, 4096 / (2 * np.pi) / (256 * 885), 1.0, 0.004676345799486616, 0.2667860954283698, 8.515871897059342e-06,
        1.0722918395099123e-05, 0.08077928978935671, 0.009972471242139415, 0.004902565732332559, 2.890372094130307,
        8.683259907618984,
    ),
    "sts3215": Parameters(
        1.21164135295077, 2.6761663274455603, 0.02840336348682085, 0.05239296084748866, 0.05908515565091076,
        7.4, 32.0, 0.166, 0.97,
    ),
}  # fmt: skip


@dataclass
class Servo(Actuator):
    """A hobby or Dynamixel servo. duty = clip(kp error_gain (q* − q), ±max_pwm), τ = kt (vin duty − kt q̇)/R; with s = exp(−|q̇/v_s|^α), the load
    of the motor τ and that from outside τ_e (gravity, contacts, limits), friction is at most

        f = base + |l_e τ_e − l_m τ| + s (stribeck + |m_e τ_e − m_m τ| + quadratic terms where τ and τ_e oppose each other)

    and viscous. Friction and what the voltage of the speed takes, kt²/R q̇, are implicit: dry friction and damping of the joints, written before each
    physics step; the joints get the rotor's inertia. These replace what the model has on the joints, and what events
    draw for their dry friction.

    servo: a name of stiction.actuators.SERVOS, or Parameters. vin (V), kp: in the place of its own; None: those. Loads by gravity
    come from the CPU.
    """

    servo: Any = "mx64"
    vin: float | None = None
    kp: float | None = None

    def check(self, name):
        super().check(name)
        if not isinstance(self.servo, Parameters) and self.servo not in SERVOS:
            near = hint(str(self.servo), SERVOS) or f"; there are {', '.join(SERVOS)}"
            raise ArgumentError(f"{name}: no servo {self.servo!r}{near}")
        for what in ("vin", "kp"):
            value = getattr(self, what)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ArgumentError(f"{name}: {what} = {value}: must be > 0")
        p = self.parameters
        wrong = [f.name for f in fields(p) if not (np.isfinite(getattr(p, f.name)) and getattr(p, f.name) >= 0)]
        if wrong or min(p.resistance, p.speed_stribeck) == 0:
            raise ArgumentError(f"{name}: servo: {wrong[0] if wrong else 'resistance, speed_stribeck'}: must be finite and not negative, "
                                "resistance and speed_stribeck > 0")  # fmt: skip

    @property
    def parameters(self) -> Parameters:
        return self.servo if isinstance(self.servo, Parameters) else SERVOS[self.servo]

    def setup(self):
        p, batch = self.parameters, self.task.batch
        self._loaded = any((p.load_motor, p.load_external, p.load_motor_stribeck, p.load_external_stribeck))
        if self._loaded and self.xp is not namespace():
            raise ArgumentError(f"{self.title}: friction depends on loads, which come from the CPU; not there on a device")
        self._volts, self._kp = self.vin or p.vin, self.kp or p.kp
        batch.param("dof_armature")[:, self._dofs] = p.armature
        batch.param("dof_damping")[:, self._dofs] = p.friction_viscous + p.kt * p.kt / p.resistance

    def motor(self, target, q):
        """N m of the motor at rest."""
        p = self.parameters
        duty = self.xp.clip((target - q) * (self._kp * p.error_gain), -p.max_pwm, p.max_pwm)
        return duty * (p.kt * self._volts / p.resistance)

    def friction(self, torque, external, qd):
        """N m, the most that dry friction takes."""
        p, xp = self.parameters, self.xp
        s = xp.exp(-(xp.abs(qd / p.speed_stribeck) ** p.alpha))
        dry = p.friction_base + p.friction_stribeck * s
        if not self._loaded:
            return dry
        dry = dry + xp.abs(external * p.load_external - torque * p.load_motor)
        dry = dry + s * xp.abs(external * p.load_external_stribeck - torque * p.load_motor_stribeck)
        mine, theirs = xp.abs(torque), xp.abs(external)
        opposed = xp.sign(external) != xp.sign(torque)
        quadratic = xp.where(theirs < mine, p.load_external_quadratic * theirs**2,
                             xp.where(theirs > mine, p.load_motor_quadratic * mine**2, 0))  # fmt: skip
        return dry + s * xp.where(opposed, quadratic, 0)

    def torque(self, target, q, qd):
        p, batch, xp = self.parameters, self.task.batch, self.xp
        stalled = self.motor(target, q)
        external = 0 * qd
        if self._loaded:
            external = xp.astype(batch.qfrc_constraint[:, self._dofs] - batch.qfrc_bias[:, self._dofs], xp.float32)
        dry = self.friction(stalled - (p.kt * p.kt / p.resistance) * qd, external, qd)
        batch.param("dof_frictionloss")[:, self._dofs] = dry
        return stalled
