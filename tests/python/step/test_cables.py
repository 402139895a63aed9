"""Ball joints on bodies that move: cables of free links beside MuJoCo, and what their energy does."""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")


def cable(links, dt, damping=1e-4):
    """From the origin along x, 1 g and 2 cm a link, with a plug of 50 g at the end."""
    link = f"""<joint type="ball" damping="{damping}"/>
      <geom type="capsule" fromto="0 0 0 .02 0 0" size=".003" mass=".001" contype="0" conaffinity="0"/>"""
    bodies = f"<body>{link}" + f'<body pos=".02 0 0">{link}' * (links - 1)
    plug = """<geom type="box" pos=".02 0 0" size=".01 .01 .01" mass=".05" contype="0" conaffinity="0"/>
      <site name="end" pos=".02 0 0"/>"""
    return f'<mujoco><option timestep="{dt}"/><worldbody>{bodies}{plug}{"</body>" * links}</worldbody></mujoco>'


def in_mujoco(xml, qvel, steps):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[:] = qvel
    for _ in range(steps):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    return data


@pytest.mark.parametrize("engine", ("float32", "float64", "reference"))
def test_a_cable_of_20_links_ends_where_mujocos_does(engine):
    """After 2 s at 2 ms, from the horizontal: both have explicit velocity products between joints."""
    xml = cable(20, 0.002)
    model = stiction.Model.from_xml(xml)
    qvel = np.zeros(model.nv)
    qvel[0] = 0.5
    batch = stiction.Batch(model, 1, precision="float32" if engine == "float32" else "float64")
    if engine == "reference":
        run = stiction.Reference(model).rollout(model.qpos0, qvel, nstep=1000)
        assert not np.any(run.status)
        batch.reset(qpos=run.qpos[-1], qvel=run.qvel[-1])
    else:
        batch.reset(qvel=qvel)
        batch.step(1000)
    assert batch.status[0] == 0
    # two roundings of a whip that swings for 2 s; the turn about its own axis, by 0.5 rad/s, is the weaker part
    np.testing.assert_allclose(batch.site_xpos[0, 0], in_mujoco(xml, qvel, 1000).site_xpos[0], atol=2e-3)


def gains(model, qvel, dt, seconds=5.0):
    """Energy beyond that at the start, over the most kinetic energy: the most of it, and the last."""
    reference = stiction.Reference(model)
    batch = stiction.Batch(model, 1, precision="float64")
    batch.reset(qvel=qvel)
    energies, kinetic = [], 0.0
    for k in range(26):
        now = reference.forward(batch.qpos[0], batch.qvel[0])
        energies.append(now.energy_kinetic + now.energy_potential)
        kinetic = max(kinetic, now.energy_kinetic)
        batch.step(round(seconds / dt / 25))
    assert batch.status[0] == 0
    gained = (np.array(energies) - energies[0]) / kinetic
    return gained.max(), gained[-1]


@pytest.mark.parametrize("dt", (0.001, 0.002))
@pytest.mark.parametrize("links", (5, 10, 20))
def test_a_cable_with_damping_gains_no_energy(links, dt):
    model = stiction.Model.from_xml(cable(links, dt))
    qvel = np.zeros(model.nv)
    qvel[0] = 0.5
    most, last = gains(model, qvel, dt)
    assert most < 0.02 and last < 0


@pytest.mark.parametrize("dt", (0.001, 0.002))
def test_a_ball_under_a_light_carrier(dt):
    """Explicit, of first order: the energy swings by 2 % at 1 ms."""
    model = stiction.Model.from_xml(f"""<mujoco><option timestep="{dt}" gravity="0 0 0"/><worldbody><body><freejoint/>
      <geom type="capsule" fromto="0 0 0 0 0 -.1" size=".01" mass=".05" contype="0" conaffinity="0"/>
      <body pos="0 0 -.1"><joint type="ball"/><geom size=".1" pos="0 0 -.2" mass="1" contype="0" conaffinity="0"/></body>
      </body></worldbody></mujoco>""")
    most, last = gains(model, [0, 0, 0, 0, 0, 0, 3, 0, 3], dt)
    assert most < 25 * dt and last < 0.02
