"""MJCF of the standing robots of paper 002: like Solo-12 and like Talos in joints, masses and lengths. The text is that of
the stand: all joints are at zero there, and servos hold them. A robot does not collide with itself."""

from dataclasses import dataclass

from .scenes import GRAVITY, text

AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
FEET = 'contype="1" conaffinity="0" friction="0.9"'


@dataclass(frozen=True)
class Link:
    joints: str  # axes of its joints, which share their place, from the parent on
    mass: float  # kg, of a rod to the next link, shared by the joints
    to: tuple  # m, from its joints to those of the next link


def chain(name, pos, links, stiffness, end=""):
    """Bodies of the links one inside the other, and their servos; `end`: geoms at the last one's end."""
    body, servos, depth, place = "", "", 0, pos
    for i, link in enumerate(links):
        for j, axis in enumerate(link.joints):
            joint, last = f"{name}{i}{axis}", j == len(link.joints) - 1
            mass, along = link.mass / len(link.joints), link.to if last else (0, 0, 0)
            inertia = mass * (sum(x * x for x in link.to) / 12 + 1e-3)
            body += (f'<body pos="{text(place)}"><joint name="{joint}" type="hinge" axis="{AXES[axis]}" armature="{2e-5 * stiffness!r}"/>'
                     f'<inertial pos="{text([x / 2 for x in along])}" mass="{mass!r}" diaginertia="{text([inertia] * 3)}"/>')
            servos += f'<position joint="{joint}" kp="{stiffness}" kv="{0.03 * stiffness!r}"/>'
            depth, place = depth + 1, along
    return body + end + "</body>" * depth, servos


def world(height, mass, size, limbs):
    """A trunk of `size` (m) with limbs, as (bodies, servos)."""
    inertia = text([mass * (size[i] ** 2 + size[k] ** 2) / 12 for i, k in ((1, 2), (0, 2), (0, 1))])
    return (f'<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody><geom type="plane" size="9 9 1" contype="0" conaffinity="1" friction="0.9"/>'
            f'<body name="trunk" pos="0 0 {height!r}"><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/>'
            f'{"".join(b for b, _ in limbs)}</body></worldbody><actuator>{"".join(s for _, s in limbs)}</actuator></mujoco>')


def solo12():
    """12 joints, 2.5 kg: hips 0.39 m by 0.18 m apart, legs of 0.16 m and 0.16 m, ball feet of 16 mm."""
    bend, radius = 0.16 * 2**-0.5, 0.016
    legs = []
    for x in (-1, 1):
        for y in (-1, 1):
            links = [Link("x", 0.148, (0, 0.014 * y, 0)), Link("y", 0.148, (-bend, 0.037 * y, -bend)), Link("y", 0.037, (bend, 0, -bend))]
            foot = f'<geom type="sphere" size="{radius}" pos="{text((bend, 0, -bend))}" {FEET}/>'
            legs.append(chain(f"leg{x}{y}", (0.1946 * x, 0.0875 * y, 0), links, 8.0, foot))
    return world(2 * bend + radius, 1.16, (0.4, 0.2, 0.05), legs)


def talos():
    """32 joints, 95 kg, 1.75 m: legs of six, torso of two, arms of seven and a gripper, head of two; soles of 0.21 m by 0.13 m."""
    limbs, radius = [], 0.01
    for y in (-1, 1):
        sole = "".join(f'<geom type="sphere" size="{radius}" pos="{text((0.03 + 0.105 * i, 0.065 * j, -0.1))}" {FEET}/>'
                       for i in (-1, 1) for j in (-1, 1))
        leg = [Link("zxy", 8.0, (0, 0, -0.38)), Link("y", 4.5, (0, 0, -0.325)), Link("yx", 2.5, (0, 0, -0.1))]
        limbs.append(chain(f"leg{y}", (0, 0.085 * y, -0.02), leg, 4000.0, sole))
    arms, servos = "", ""
    for y in (-1, 1):
        arm = [Link("zx", 3.5, (0, 0.05 * y, -0.1)), Link("zy", 3.0, (0, 0, -0.2)), Link("zyx", 2.5, (0, 0, -0.25)), Link("y", 0.7, (0, 0, -0.1))]
        bodies, more = chain(f"arm{y}", (0, 0.18 * y, 0.4), arm, 400.0)
        arms, servos = arms + bodies, servos + more
    head, more = chain("head", (0, 0, 0.45), [Link("zy", 2.0, (0, 0, 0.2))], 100.0)
    torso, own = chain("torso", (0, 0, 0.1), [Link("zy", 24.0, (0, 0, 0.4))], 4000.0, arms + head)
    return world(0.835, 19.6, (0.25, 0.35, 0.25), [*limbs, (torso, own + servos + more)])
