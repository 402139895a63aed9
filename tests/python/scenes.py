"""Scenes of the acceptance tests: small models with native contact materials, and their steps.

A scene is written in its own axes, z along the normal of the ground and x along the motion; `frame`
turns all of it into the world, so that one test runs along both tangent axes of a contact, at an
arbitrary heading and on a ground that is not horizontal.
"""

from dataclasses import dataclass

import numpy as np

import engines
import stiction

GRAVITY = 9.81
MODELS = ("lagged", "similar", "sap")

# Radius of a geom that stands for a point: small, so that rounding a gap (half an ulp of the
# radius) times a stiffness of 1e7 N/m is 1e-12 N; a power of two, so that it adds no rounding.
POINT = 2.0**-10


def rotation(axis, angle):
    """Matrix of a rotation about a coordinate axis (0, 1, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    r = np.eye(3)
    r[i, i] = r[j, j] = c
    r[i, j], r[j, i] = -s, s
    return r


# x runs along one tangent axis of the contact frame, along the other, between them, and on a wall.
FRAMES = {
    "x": np.eye(3),
    "y": np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    "heading": rotation(2, 0.7),
    "tilted": rotation(0, 0.4) @ rotation(1, -1.1) @ rotation(2, 2.3),
}


@dataclass(frozen=True)
class Material:
    """Of the moving geoms; the ground is rigid and has no friction of its own."""

    stiffness: float = 1e5
    dissipation: float = 0.0
    friction: float = 0.5
    relaxation_time: float = 0.0


def text(numbers):
    """Numbers as MJCF attribute, bit for bit."""
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def quaternion(r):
    """Unit quaternion w x y z of a rotation matrix, largest component positive."""
    q = np.empty(4)
    trace = np.trace(r)
    squares = np.array([trace, r[0, 0], r[1, 1], r[2, 2]]) * 2 + 1 - trace
    squares[0] = 1 + trace
    k = int(np.argmax(squares))
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    if k == 0:
        q[0], q[1:] = squares[0], skew
    else:
        q[0], q[1:] = skew[k - 1], r[k - 1] + r[:, k - 1]
        q[k] = squares[k]
    return q / np.linalg.norm(q)


def ground(frame, origin=(0, 0, 0)):
    return (f'<geom name="ground" type="plane" size="1 1 1" friction="0" '
            f'pos="{text(frame @ origin)}" quat="{text(quaternion(frame))}"/>')


SLIDES = "".join(
    f'<joint name="{name}" type="slide" axis="{axis}"/>'
    for name, axis in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))
)


def particle_xml(mass=1.0, contacts=1, frame=FRAMES["x"], gravity=(0, 0, -GRAVITY),
                 origin=(0, 0, 0)):
    """A body that can't turn, on `contacts` points; `gravity` and `origin` in the scene's axes."""
    corners = [(0.05 * sx, 0.05 * sy) for sx in (-1, 1) for sy in (-1, 1)]
    feet = corners if contacts == 4 else [(0.02 * i, 0) for i in range(contacts)]
    geoms = "".join(
        f'<geom type="sphere" size="{POINT!r}" pos="{text(frame @ (x, y, 0))}"/>' for x, y in feet
    )
    return f"""
<mujoco>
  <option gravity="{text(frame @ gravity)}"/>
  <worldbody>
    {ground(frame, origin)}
    <body name="body" pos="{text(frame @ origin + frame @ (0, 0, POINT))}">
      {SLIDES}
      <inertial pos="0 0 0" mass="{mass!r}" diaginertia="1e-3 1e-3 1e-3"/>
      {geoms}
    </body>
  </worldbody>
</mujoco>"""


def box_xml(mass=1.0, half=(0.05, 0.05, 0.05), frame=FRAMES["x"], spheres=True):
    """A free box standing on the ground: four spheres at its lower corners, or a box geom."""
    x, y, z = half
    if spheres:
        geoms = "".join(
            f'<geom type="sphere" size="{POINT!r}" pos="{text((sx * x, sy * y, POINT - z))}"/>'
            for sx in (-1, 1)
            for sy in (-1, 1)
        )
    else:
        geoms = f'<geom type="box" size="{text(half)}"/>'
    inertia = mass / 3 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    return f"""
<mujoco>
  <option gravity="{text(frame @ (0, 0, -GRAVITY))}"/>
  <worldbody>
    {ground(frame)}
    <body name="body" pos="{text(frame @ (0, 0, z))}" quat="{text(quaternion(frame))}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{mass!r}" diaginertia="{text(inertia)}"/>
      {geoms}
    </body>
  </worldbody>
</mujoco>"""


def sphere_xml(mass=1.0, radius=0.05, frame=FRAMES["x"], gravity=(0, 0, -GRAVITY)):
    """A solid sphere touching the ground; `gravity` in the scene's axes."""
    return f"""
<mujoco>
  <option gravity="{text(frame @ gravity)}"/>
  <worldbody>
    {ground(frame)}
    <body name="body" pos="{text(frame @ (0, 0, radius))}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{mass!r}" diaginertia="{text([0.4 * mass * radius**2] * 3)}"/>
      <geom type="sphere" size="{radius!r}" friction="0"/>
    </body>
  </worldbody>
</mujoco>"""


def load(xml, material):
    """The model with `material` on every geom of a moving body."""
    model = stiction.Model.from_xml(xml)
    for g in range(model.ngeom):
        if model.geom_bodyid[g] != 0:
            model = model.with_contact_material(
                g,
                stiffness=material.stiffness,
                dissipation=material.dissipation,
                friction=material.friction,
                relaxation_time=material.relaxation_time,
            )
    return model


class Scene:
    """One body on the ground. Displacements, velocities and forces in the scene's axes."""

    def __init__(self, xml, material=None, frame=FRAMES["x"], *, tight=True, **options):
        self.frame = np.asarray(frame)
        self.model = load(xml, material) if material else stiction.Model.from_xml(xml)
        # solved to round-off, unless the default is what a test is about
        if tight:
            options.setdefault("solver_tolerance", 1e-14)
        self.reference = engines.make(self.model, stiction.Options(**options))
        self.dt = self.reference.options.timestep
        self.free = self.model.nv == 6
        self.q = self.model.qpos0.copy()
        self.v = np.zeros(self.model.nv)

    def place(self, offset=(0, 0, 0), velocity=(0, 0, 0), spin=(0, 0, 0)):
        """Displacement from the model's pose, velocity, angular velocity."""
        self.q = self.model.qpos0.copy()
        self.q[:3] += self.frame @ offset
        self.v = np.zeros(self.model.nv)
        self.v[:3] = self.frame @ velocity
        if self.free:
            self.v[3:] = self._body_axes() @ self.frame @ spin
        return self

    def step(self, force=(0, 0, 0)):
        """One step under a force at the centre of mass."""
        xfrc = np.zeros((self.model.nbody, 6))
        xfrc[1, :3] = self.frame @ force
        result = self.reference.step(self.q, self.v, xfrc_applied=xfrc)
        assert not result.status & ~int(stiction.Status.stalled), result
        self.q, self.v = result.qpos.copy(), result.qvel.copy()
        return result

    def run(self, steps, force=(0, 0, 0)):
        """Many steps; the last result."""
        for _ in range(steps):
            result = self.step(force)
        return result

    @property
    def offset(self):
        return self.frame.T @ (self.q[:3] - self.model.qpos0[:3])

    @property
    def velocity(self):
        return self.frame.T @ self.v[:3]

    @property
    def spin(self):
        return self.frame.T @ self._body_axes().T @ self.v[3:]

    def impulses(self, result):
        """(n, 3) impulse of every contact on the body, in the scene's axes."""
        return np.array([self.frame.T @ c.impulse for c in result.contacts]).reshape(-1, 3)

    def force(self, result):
        """Sum of the contact forces on the body."""
        return self.impulses(result).sum(axis=0) / self.dt

    def _body_axes(self):
        """World to body."""
        w, x, y, z = self.q[3:7]
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return (np.eye(3) + 2 * w * skew + 2 * skew @ skew).T


def soft_norm(speed, eps):
    """|v|_s = sqrt(v^2 + eps^2) - eps."""
    return speed * speed / (np.hypot(speed, eps) + eps)


def creep(ratio, eps):
    """Speed at which regularised friction carries `ratio` of its bound."""
    return eps * ratio / np.sqrt(1 - ratio * ratio)
