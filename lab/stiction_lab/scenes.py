"""MJCF of the papers' scenes. Materials come with `Scene(material=...)`; the ground is rigid."""

import numpy as np

GRAVITY = 9.81
POINT = 2.0**-10  # m, radius of a sphere that stands for a point


def text(numbers):
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def world(*bodies, gravity=(0, 0, -GRAVITY), ground=True, options=""):
    """A world with a plane at z = 0."""
    plane = '<geom name="ground" type="plane" size="9 9 1" friction="0"/>' if ground else ""
    return (f'<mujoco><option gravity="{text(gravity)}"/>{options}<worldbody>{plane}{"".join(bodies)}'
            "</worldbody></mujoco>")


def box(mass, z, half=0.1, name="", x=0.0, friction=1.0):
    """A free cube whose centre is at height z."""
    inertia = mass * 2 * half**2 / 3
    label = f' name="{name}"' if name else ""
    return (f'<body{label} pos="{x!r} 0 {z!r}"><freejoint/><inertial pos="0 0 0" mass="{mass!r}" '
            f'diaginertia="{text([inertia] * 3)}"/><geom type="box" size="{text([half] * 3)}" '
            f'friction="{friction!r}"/></body>')


def cube_xml(mass=1.0, half=0.1, gap=0.0):
    """A free cube that touches the ground at its four lower corners and nowhere else."""
    inertia = mass * 2 * half**2 / 3
    corners = "".join(
        f'<geom type="sphere" size="{POINT!r}" pos="{text((x * half, y * half, POINT - half))}"/>'
        for x in (-1, 1) for y in (-1, 1)
    )
    return world(
        f'<body name="cube" pos="0 0 {half + gap!r}"><freejoint/><inertial pos="0 0 0" mass="{mass!r}" '
        f'diaginertia="{text([inertia] * 3)}"/>{corners}</body>'
    )


def sphere_xml(mass, radius, height):
    """A free solid sphere whose centre is at `height`."""
    inertia = 0.4 * mass * radius**2
    return world(
        f'<body name="sphere" pos="0 0 {height!r}"><freejoint/><inertial pos="0 0 0" mass="{mass!r}" '
        f'diaginertia="{text([inertia] * 3)}"/><geom type="sphere" size="{radius!r}"/></body>'
    )
