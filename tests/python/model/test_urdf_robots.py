"""Robots made at random, of all that URDF has: MuJoCo's own reader makes the same of them."""

import warnings

import numpy as np
import pytest

import stiction
from mesh_files import cup, icosphere, obj, stl
from urdf_oracle import compare, compare_motion, mujoco

MOVING = ("revolute", "continuous", "prismatic", "planar")
SHAPES = ("box", "cylinder", "sphere", "capsule")


def text(numbers):
    return " ".join(repr(float(x)) for x in np.atleast_1d(numbers))


class Robot:
    """A tree of 4 to 24 links; `links` and `joints` are its elements."""

    def __init__(self, seed, folder=None):
        self.rng = np.random.default_rng(seed)
        self.folder = folder  # of the mesh files, None: no meshes
        self.links, self.joints, self.types = [], [], []
        count = self.rng.integers(4, 25)
        for i in range(count):
            if i == 0:
                self.link(i, fixed=True)
                continue
            floating = i == 1 and seed % 3 == 0  # below a root that stands in the world
            kind = "floating" if floating else str(self.rng.choice([*MOVING, "fixed"], p=[0.35, 0.15, 0.2, 0.1, 0.2]))
            parent = 0 if i == 1 else self.rng.integers(seed % 3 == 0, i)
            self.link(i, kind == "fixed")
            self.joint(i, parent, kind)

    def __str__(self):
        return f'<robot name="made">{"".join(self.links)}{"".join(self.joints)}</robot>'

    def origin(self):
        return f'<origin xyz="{text(self.rng.uniform(-0.3, 0.3, 3))}" rpy="{text(self.rng.uniform(-3, 3, 3))}"/>'

    def inertial(self):
        mass, (a, b, c) = self.rng.uniform(0.2, 5), self.rng.uniform(0.02, 0.2, 3) ** 2
        turn = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        m = turn @ np.diag(mass * np.array([b + c, a + c, a + b])) @ turn.T
        entries = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{text(m[i, j])}"' for i in range(3) for j in range(i, 3))
        return f'<inertial>{self.origin()}<mass value="{text(mass)}"/><inertia {entries}/></inertial>'

    def geometry(self, kind):
        size = self.rng.uniform(0.03, 0.2, 3)
        return {
            "box": f'<box size="{text(size)}"/>', "sphere": f'<sphere radius="{text(size[0])}"/>',
            "cylinder": f'<cylinder radius="{text(size[0])}" length="{text(size[1])}"/>',
            "capsule": f'<capsule radius="{text(size[0])}" length="{text(size[1])}"/>',
        }[kind]  # fmt: skip

    def mesh(self, i):
        """A file of its own, binary STL or OBJ, of a cup or a hull of many faces."""
        v, f = cup() if i % 2 else (icosphere(0.1, 1) * self.rng.uniform(0.5, 2, 3), None)
        if f is None:
            model = stiction.Model.from_xml(
                f'<mujoco><asset><mesh name="m" vertex="{text(v.ravel())}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>')
            v, f = np.array(model.mesh_vert), np.array(model.mesh_face)
        name = f"link{i}.{'stl' if i % 4 < 2 else 'obj'}"
        data = stl(v, f) if name.endswith("stl") else obj(v, f).encode()
        (self.folder / name).write_bytes(data)
        return f'<mesh filename="{name}" scale="{text(self.rng.uniform(0.5, 1.5, 3))}"/>'

    def link(self, i, fixed):
        """Fixed ones may weigh nothing, others have an inertial or a shape."""
        shapes = [self.geometry(str(self.rng.choice(SHAPES))) for _ in range(self.rng.integers(0, 3))]
        weighs = "" if (fixed and self.rng.random() < 0.4) or (shapes and self.rng.random() < 0.3) else self.inertial()
        if self.folder and self.rng.random() < 0.6:
            shapes.append(self.mesh(i))
        collisions = "".join(f"<collision>{self.origin()}<geometry>{s}</geometry></collision>" for s in shapes)
        self.links.append(f'<link name="link{i}">{weighs}{collisions}</link>')

    def joint(self, i, parent, kind):
        low, high = np.sort(self.rng.uniform(-2, 2, 2))
        limit = f'<limit lower="{text(low)}" upper="{text(high)}" effort="{text(self.rng.uniform(0, 50))}" velocity="3"/>'
        axis = "" if self.rng.random() < 0.1 else f'<axis xyz="{text(self.rng.normal(size=3))}"/>'
        dynamics = f'<dynamics damping="{text(self.rng.uniform(0, 2))}" friction="{text(self.rng.uniform(0, 1))}"/>'
        followed = [j for j, t in enumerate(self.types, 1) if t in ("revolute", "prismatic")]
        mimic = ""
        if kind in ("revolute", "prismatic") and followed and self.rng.random() < 0.2:
            mimic = f'<mimic joint="joint{self.rng.choice(followed)}" multiplier="{text(self.rng.normal())}" offset="{text(self.rng.normal())}"/>'
        self.types.append("mimic" if mimic else kind)
        own = {"fixed": "", "floating": ""}.get(kind, axis + limit * (kind in ("revolute", "prismatic")) + dynamics * (kind != "planar") + mimic)
        self.joints.append(f'<joint name="joint{i}" type="{kind}"><parent link="link{parent}"/><child link="link{i}"/>{self.origin()}{own}</joint>')


def load(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        return stiction.Model.from_file(path), mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("seed", range(16))
def test_a_robot_of_primitives_is_mujocos(seed, tmp_path):
    robot = Robot(seed)
    (tmp_path / "robot.urdf").write_text(str(robot))
    compare(*load(tmp_path / "robot.urdf"), seed)


@pytest.mark.parametrize("seed", range(100, 112))
def test_a_robot_of_meshes_is_mujocos(seed, tmp_path):
    robot = Robot(seed, tmp_path)
    (tmp_path / "robot.urdf").write_text(str(robot))
    ours, theirs = load(tmp_path / "robot.urdf")
    # links that weigh by meshes alone stay bodies; MuJoCo's moments of meshes are rounded
    compare_motion(ours, theirs, seed, rtol=3e-9)
    assert ours.body_mass.sum() == pytest.approx(theirs.body_mass.sum(), rel=3e-9)


def test_the_robots_have_everything():
    types = [t for seed in range(16) for t in Robot(seed).types]
    assert set(types) == {*MOVING, "fixed", "floating", "mimic"} and len(types) > 150
