"""Things of meshes at rest: a stack, a cup in a gripper, feet. They stand, and anchored ones don't creep."""

import re

import numpy as np
import pytest

import creep_scenes as scenes
import stiction
from creep_scenes import PRECISIONS, REST
from mesh_files import cup, numbers, tumbler

mujoco = pytest.importorskip("mujoco")

# --- a stack ----------------------------------------------------------------------------------

SLOPE = np.radians(1)
COUNT, TIMESTEP = 10, 0.005


def creep_of_stack(shape, precision, stiction_, seconds):
    """Mean speed of each cube, (environment, cube), m/s, after 15 s, in which the stack sways and sinks.

    The first environment is level, in the second gravity is tilted as on a slope.
    """
    scene = scenes.stack_scene(COUNT, TIMESTEP, shape=shape)
    rest, start = scene.qpos[2::7], scene.qpos.copy()
    start[2::7] += 2e-5 * np.arange(1, COUNT + 1)
    batch = stiction.Batch(scene.model, 2, options=stiction.Options(stiction=stiction_), precision=precision, threads=1)
    batch.set_state(qpos=np.tile(start, (2, 1)), qvel=np.zeros((2, 6 * COUNT)))
    batch.param("gravity")[1].flat = scenes.GRAVITY * np.array([np.sin(SLOPE), 0, -np.cos(SLOPE)])
    batch.step(round(15 / TIMESTEP))
    before = np.array(batch.xpos[:, 1:])
    batch.step(round(seconds / TIMESTEP))
    after = np.array(batch.xpos[:, 1:])
    # they stand: on the slope the top leans by 5 mm, which lowers it by 13 um
    np.testing.assert_allclose(after[:, :, 2], np.tile(rest, (2, 1)), atol=2e-5)
    assert (batch.ncon >= 4 * COUNT).all() and not batch.status.any()
    return np.linalg.norm(after - before, axis=2) / seconds


@pytest.mark.parametrize("precision", PRECISIONS)
def test_ten_mesh_cubes_stand_for_a_minute(precision):
    """They creep no more than ten boxes do."""
    # the regularised creep of a slope is steady: the last seconds of the minute add nothing but time
    box, mesh = (creep_of_stack(shape, precision, "regularized", 15) for shape in ("box", "mesh"))
    assert box[1].max() > 50e-6  # what creeps: each of the ten contacts by its load
    # what is left of the sway differs by 0.03 % of the creep
    assert (mesh <= 1.001 * box + REST[precision]).all()
    held = creep_of_stack("mesh", precision, "anchored", 45)
    assert held[0].max() < REST[precision]
    assert (held <= creep_of_stack("box", precision, "anchored", 45) + REST[precision]).all()


# --- a grasp ----------------------------------------------------------------------------------


def rotation(quat):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, float))
    return matrix.reshape(3, 3)


def panda_with_cup(cup, width, mass=0.1):
    """A Panda whose pads are meshes, closed on an upright cup of meshes that is so wide between them.

    The servo of the fingers pulls with 100 N/m of the mean of their openings: each gets half of that.
    """
    pads = ""

    def as_mesh(match):
        nonlocal pads
        corners = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, 8).T * np.array(match[2].split(), float)
        pads += f'<mesh name="pad{match[1]}" vertex="{numbers(corners)}"/>'
        return f'fingertip_pad_collision_{match[1]}"><geom type="mesh" mesh="pad{match[1]}"'

    text = stiction.assets.path("panda", floor=False).read_text()
    text, count = re.subn(r'fingertip_pad_collision_(\d)">\s*<geom type="box" size="([^"]*)"', as_mesh, text)
    assert count == 5
    home = np.array([0, 0, 0, -1.57079, 0, 1.57079, -0.7853])
    vertices, faces = cup
    text = re.sub("<keyframe>.*</keyframe>", "", text, flags=re.DOTALL).replace("<worldbody>", f"""
      <asset>{pads}<mesh name="cup" vertex="{numbers(vertices)}" face="{numbers(faces)}"/></asset>
      <worldbody><body name="cup"><freejoint/><geom type="mesh" mesh="cup" mass="{mass}"/></body>""", 1)  # fmt: skip
    model = stiction.Model.from_xml(text)
    qpos = model.qpos0.copy()
    qpos[7:] = np.r_[home, width / 2, width / 2]
    poses = stiction.Reference(model).forward(qpos, np.zeros(model.nv))
    hand = model.body("hand")
    between = poses.xpos[[model.body("left_finger"), model.body("right_finger")]].mean(axis=0)
    qpos[:3] = between + rotation(poses.xquat[hand]) @ [0, 0, 0.0445]  # the middle of the pads
    mujoco.mju_mulQuat(qpos[3:7], poses.xquat[hand], np.array([0.0, 1, 0, 0]))  # the hand looks down
    return scenes.Scene(model, qpos, np.zeros(model.nv), np.r_[home, 0.0])


def box_cup():
    vertices, faces = cup()
    return 0.4 * (vertices - [0.05, 0.06, 0.1]), faces


# Shape, width between the pads, slope of the wall. Of the round one an edge stands between the pads, whose
# own edges, 2.5 mm off, touch the facets beside it: 7.5 degrees off, so by as much deeper.
FACET = np.radians(7.5)
CUPS = {"with a flat wall": (box_cup, 0.048, 0.0), "round": (tumbler, 2 * (0.0225 - 0.0025 * np.tan(FACET)), np.arctan(5 / 80))}


def path_of_cup(scene, stiction_, precision, seconds):
    """(seconds + 1, 3) where the cup is, after 4 s in which arm and fingers come to rest."""
    batch = stiction.Batch(scene.model, 1, options=stiction.Options(stiction=stiction_), precision=precision, threads=1)
    batch.set_state(qpos=scene.qpos[None], qvel=scene.qvel[None])
    batch.ctrl[0] = scene.ctrl
    batch.step(round(4 / scene.model.timestep))
    path = [np.array(batch.qpos[0, :3])]
    for _ in range(seconds):
        batch.step(round(1 / scene.model.timestep))
        path.append(np.array(batch.qpos[0, :3]))
    assert batch.status_count == 0 and batch.ncon[0] >= 6
    assert path[-1][2] > 0.3  # held
    return np.array(path)


@pytest.mark.parametrize("shape", CUPS)
def test_a_panda_holds_a_cup_for_a_minute(shape):
    """Pads and cup are meshes: it moves by less than 1e-9 m in 60 s. float32: by less than its rounding."""
    make, width, slope = CUPS[shape]
    scene = panda_with_cup(make(), width)
    path = path_of_cup(scene, "anchored", "float64", 60)
    assert np.linalg.norm(path - path[0], axis=1).max() < 1e-9
    # links and points lie half a metre from the origin: gaps are rounded to 3e-8 m
    path = path_of_cup(scene, "anchored", "float32", 6)
    assert np.linalg.norm(path - path[0], axis=1).max() < 6e-8

    # Negative control: statics of a pad that presses with f on a wall that leans outwards at the top
    path = path_of_cup(scene, "regularized", "float64", 4)
    f, half = 25 * width, 0.1 * scenes.GRAVITY / 2
    load = (half * np.cos(slope) - f * np.sin(slope)) / (f * np.cos(slope) + half * np.sin(slope))
    load *= np.cos(FACET) if shape == "round" else 1
    # the points are springs: they give way and share the load unevenly
    assert (path[0] - path[-1])[2] / 4 == pytest.approx(scenes.creep(load), rel=0.03)
