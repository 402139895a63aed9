"""570 tosses of a cube (lab/data/tosses): the measurement, its noise, and engines that predict it from the first frame."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import stiction
from stiction import rotations

from .scenes import text as text_of

DATA = Path(__file__).parents[1] / "data" / "tosses" / "tosses.npz"
HALF, MASS, INERTIA = 0.0524, 0.37, 8.1e-4  # m, kg, kg m², of the source
WIDTH = 2 * HALF
PERIOD = 1.0 / 148  # s, from frame to frame
FRAMES = 120  # 0.8 s: the cube lies still before in nine of ten tosses, and the rest are cut there


@dataclass
class Tosses:
    pose: np.ndarray  # (toss, FRAMES, 7) position in m, quaternion w x y z; the last frame goes on where a toss ends
    start: np.ndarray  # (toss, 6) velocity in the first frame, m/s and rad/s in axes of the body
    there: np.ndarray  # (toss, FRAMES) whether there is such a frame

    def of(self, chosen):
        return Tosses(self.pose[chosen], self.start[chosen], self.there[chosen])

    def __len__(self):
        return len(self.pose)


@cache
def load():
    with np.load(DATA) as file:
        lengths, frames, start = file["lengths"].astype(int), file["pose"].astype(float), file["start"].astype(float)
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    k = np.arange(FRAMES)
    pose = frames[first[:, None] + np.minimum(k, lengths[:, None] - 1)]
    pose[..., :3] *= HALF
    start[:, :3] *= HALF
    return Tosses(pose, start, k < lengths[:, None])


def errors(predicted, measured):
    """Distance of the centres in widths of the cube and angle in degrees, (..., toss, frame); NaN where no frame is."""
    distance = np.linalg.norm(predicted[..., :3] - measured.pose[..., :3], axis=-1) / WIDTH
    angle = np.degrees(rotations.angle_between(predicted[..., 3:], measured.pose[..., 3:]))
    return np.where(measured.there, distance, np.nan), np.where(measured.there, angle, np.nan)


def means(predicted, measured):
    """The errors' mean over each toss: (position, rotation), each (..., toss)."""
    return tuple(np.nanmean(e, axis=-1) for e in errors(predicted, measured))


def lowest(pose):
    """Height of the lowest corner, m."""
    w, x, y, z = np.moveaxis(pose[..., 3:], -1, 0)
    up = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1)  # third row of R
    return pose[..., 2] - HALF * np.abs(up).sum(axis=-1)


def first_contact(tosses):
    """First frame in which a corner is below 5 % of a half width: the tags are wrong by as much."""
    low = lowest(tosses.pose) < 0.05 * HALF
    return np.where(low.any(axis=1), low.argmax(axis=1), FRAMES)


def noise(tosses, frames=8):
    """Standard deviations of a frame's position (m) and rotation (rad), of the first frame's velocity (m/s) and angular velocity
    (rad/s): against a parabola and a constant angular velocity, least squares over the flight before the first contact."""
    spread = []
    for pose, start, until in zip(tosses.pose, tosses.start, first_contact(tosses)):
        if until < frames:
            continue
        t = PERIOD * np.arange(until)
        line = np.stack([np.ones(until), t], 1)
        fall = pose[:until, :3] + 0.5 * 9.81 * t[:, None] ** 2 * np.array([0, 0, 1.0])
        # the cube's inertia has no axes: it turns about one axis that does not move
        angle = rotations.log(rotations.multiply(rotations.conjugate(pose[0, 3:]), pose[:until, 3:]))
        found = []
        for values, velocity in ((fall, start[:3]), (angle, start[3:])):
            fit, *_ = np.linalg.lstsq(line, values, rcond=None)
            found += [np.sum((values - line @ fit) ** 2) / (3 * (until - 2)), np.mean((fit[1] - velocity) ** 2)]
        spread.append([found[0], found[2], found[1], found[3]])
    return np.sqrt(np.mean(spread, axis=0)), len(spread)


def xml(timestep, floor="", option=""):
    return (f'<mujoco><option timestep="{timestep!r}" {option}/><worldbody><geom name="floor" type="plane" size="0 0 1" {floor}/>'
            f'<body pos="0 0 1"><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{text_of([INERTIA] * 3)}"/>'
            f'<geom name="cube" type="box" size="{text_of([HALF] * 3)}" {floor}/></body></worldbody></mujoco>')


@dataclass(frozen=True)
class Stiction:
    """One environment per candidate and toss. Parameters: k of the pair N/m, d s/m (SAP: τ s), μ, and e where it bounces."""

    name: str
    model: str = "lagged"
    stiction: str = "regularized"
    friction_iterations: object = 1
    bounces: bool = False
    substeps: int = 4

    @property
    def bounds(self):
        damping = (1e-4, 0.3) if self.model == "sap" else (0.01, 20)
        return [(300, 3e6), damping, (0.05, 0.5)] + [(0.02, 0.8)] * self.bounces

    @property
    def parameters(self):
        return ("k", "τ" if self.model == "sap" else "d", "μ") + ("e",) * self.bounces

    def predict(self, candidates, tosses, precision="float32"):
        dt, n = PERIOD / self.substeps, len(candidates) * len(tosses)
        model = stiction.Model.from_xml(xml(dt))
        for geom in ("floor", "cube"):
            model = model.with_contact_material(geom, stiffness=1e4, dissipation=1.0, friction=0.2, relaxation_time=0.01,
                                                restitution=0.1 if self.bounces else 0.0)
        batch = stiction.Batch(model, n, precision=precision, threads=1, options=stiction.Options(
            timestep=dt, contact_model=self.model, stiction=self.stiction, friction_iterations=self.friction_iterations))
        each = np.repeat(np.asarray(candidates, float), len(tosses), axis=0)
        batch.param("pair_stiffness")[:] = each[:, :1]
        batch.param("pair_relaxation_time" if self.model == "sap" else "pair_dissipation")[:] = each[:, 1:2]
        if self.model == "sap":
            batch.param("pair_dissipation")[:] = 0
        batch.param("geom_friction")[:] = each[:, 2:3]
        if self.bounces:
            batch.param("pair_restitution")[:] = each[:, 3:]
        batch.reset(qpos=np.tile(tosses.pose[:, 0], (len(candidates), 1)), qvel=np.tile(tosses.start, (len(candidates), 1)))
        out = np.empty((FRAMES, n, 7))
        out[0] = batch.qpos
        for frame in out[1:]:
            batch.step(self.substeps)
            frame[:] = batch.qpos
        return out.transpose(1, 0, 2).reshape(len(candidates), len(tosses), FRAMES, 7)


@dataclass(frozen=True)
class Mujoco:
    """Parameters: time constant (s) and damping ratio of solref, μ, and the impedance of solimp where it is not the default's."""

    name: str
    cone: str = "elliptic"
    impedance: bool = False
    substeps: int = 4

    bounces = True

    @property
    def bounds(self):
        return [(0.0035, 0.1), (0.05, 3), (0.05, 0.5)] + [(0.3, 0.99)] * self.impedance

    @property
    def parameters(self):
        return ("T", "ζ", "μ") + ("impedance",) * self.impedance

    def predict(self, candidates, tosses):
        import mujoco
        from mujoco import rollout

        dt, out = PERIOD / self.substeps, []
        state = np.concatenate([np.zeros((len(tosses), 1)), tosses.pose[:, 0], tosses.start], axis=1)
        for T, zeta, mu, *impedance in candidates:
            solimp = f'solimp="{float(impedance[0])!r} {float(impedance[0])!r}"' if impedance else ""
            material = f'solref="{float(T)!r} {float(zeta)!r}" {solimp} friction="{float(mu)!r} 0 0" condim="3"'
            m = mujoco.MjModel.from_xml_string(xml(dt, material, f'cone="{self.cone}" integrator="implicitfast"'))
            states, _ = rollout.rollout(m, [mujoco.MjData(m)], state, nstep=(FRAMES - 1) * self.substeps)
            out.append(np.concatenate([tosses.pose[:, :1], states[:, self.substeps - 1::self.substeps, 1:8]], axis=1))
        return np.stack(out)
