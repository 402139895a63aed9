"""The solver stops, and friction follows, by the scale of each tree: what is nothing to a heavy body is all to a light one."""

import numpy as np
import pytest

import stiction

TURNTABLE = """<mujoco><option timestep="0.002"/><worldbody>
  <body><joint axis="0 0 1" armature="1e10"/><geom type="cylinder" size=".5 .05" pos="0 0 -.05" mass="1"/></body>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody></mujoco>"""


def beside(mass):
    falling = (f'<body pos="3 0 50"><freejoint/><geom size=".1" mass="{mass}" contype="0" conaffinity="0"/></body>'
               if mass else "")
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/><worldbody>
      <geom type="plane" size="5 5 1" friction=".5"/>
      <body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .05" mass=".1" friction=".5"/></body>{falling}
    </worldbody></mujoco>""")


def under_gantry(mass):
    """A box of 0.1 kg on slides along z and x of a gantry that falls: one tree."""
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.002"/><worldbody>
      <geom type="plane" size="5 5 1" friction=".5"/>
      <body pos="0 0 50"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="{mass}" contype="0" conaffinity="0"/>
        <body pos="0 0 -49.95"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
          <geom type="box" size=".1 .1 .05" mass=".1" friction=".5"/></body></body>
    </worldbody></mujoco>""")


class OfReference:
    def __init__(self, model, options):
        self.reference = stiction.Reference(model, options)
        self.qpos, self.qvel = np.array(model.qpos0), np.zeros(model.nv)

    def step(self, steps):
        chunk = self.reference.rollout(self.qpos, self.qvel, nstep=steps)
        assert not np.any(chunk.status)
        self.qpos, self.qvel = chunk.qpos[-1], chunk.qvel[-1]


class OfBatch:
    def __init__(self, model, options, precision):
        self.batch = stiction.Batch(model, 1, options, precision=precision)
        self.qpos, self.qvel = self.batch.qpos[0], self.batch.qvel[0]

    def step(self, steps):
        self.batch.step(steps)
        assert not self.batch.status[0]


def engine(name, model, friction):
    options = stiction.Options(friction_iterations=friction)
    return OfReference(model, options) if name == "reference" else OfBatch(model, options, name)


ENGINES = ("reference", "float64", "float32")


@pytest.mark.parametrize("friction", (1, "auto"))
@pytest.mark.parametrize("name", ENGINES)
def test_a_box_turns_with_a_heavy_turntable(name, friction):
    scene = engine(name, stiction.Model.from_xml(TURNTABLE), friction)
    scene.qvel[0] = 0.5
    scene.step(1000)
    w, _, _, z = scene.qpos[4:8]
    # it slips while it is brought to speed: ω²/2α with α = μ g r/k² of a square, 3 mrad, and creeps
    assert 2 * np.arctan2(z, w) == pytest.approx(1.0, abs=0.015)
    assert scene.qvel[6] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("friction", (1, "auto"))
@pytest.mark.parametrize("name", ENGINES)
def test_a_box_slides_as_far_beside_a_falling_weight(name, friction):
    def distance(mass):
        scene = engine(name, beside(mass), friction)
        scene.qvel[0] = 1.0
        scene.step(400)
        return scene.qpos[0]

    alone = distance(0)
    assert alone == pytest.approx(1 / (2 * 0.5 * 9.81), rel=0.02)
    for mass in (100, 1e4):
        # what is left of the residual is a share of the box's own impulses
        assert distance(mass) == pytest.approx(alone, rel=2e-3)


@pytest.mark.parametrize("friction", (1, "auto"))
@pytest.mark.parametrize("name", ENGINES)
def test_a_box_slides_as_far_under_a_falling_gantry(name, friction):
    def distance(mass):
        scene = engine(name, under_gantry(mass), friction)
        scene.qvel[2] = 1.0
        scene.step(400)
        return scene.qpos[2]

    right = 1 / (2 * 0.5 * 9.81)
    for mass in (1, 1000, 1e4):  # at 1 kg the box is not light beside it
        # 1 % is half of the way of a step, which goes by before friction has its bound
        assert distance(mass) == pytest.approx(right, rel=0.012)


@pytest.mark.parametrize("name", ("float64", "float32"))
def test_friction_follows_in_the_first_step_under_a_falling_gantry(name):
    """Nothing bounds friction yet. What is missing is nothing beside the momentum of the tree, and half of that of the box."""
    def lost(of):
        scene = engine(of, under_gantry(1000), "auto")
        scene.qvel[2] = 1.0
        scene.step(1)
        return 1 - scene.qvel[2]

    fixed_point = lost("reference")
    assert fixed_point > 0.8 * 0.5 * 9.81 * 0.002
    assert lost(name) == pytest.approx(fixed_point, abs=0.02 * np.hypot(1, 0.5) * 9.81 * 0.002)  # 2 % of the step's impulse
