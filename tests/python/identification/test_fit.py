"""stiction.fit finds the parameters that logs were made with, says how sure it is, and names what no log tells."""

import os
import signal
import threading

import numpy as np
import pytest
from scipy.special import stdtrit

import stiction
from robot_logs import arm, assert_recovers, block, log_of, mujoco_log, pendulum
from stiction.identification import Log, Parameter

PENDULUM = {"dof_damping[hinge]": 0.15, "dof_armature[hinge]": 0.03, "dof_frictionloss[hinge]": 0.2}
FRICTION = ["dof_damping", "dof_armature", "dof_frictionloss"]
SWING = {"noise": (2e-3, 2e-2), "hold": 20, "amplitude": 2}  # rad, rad/s; N m
ARM = {"damping": 0.4, "armature": 0.02, "mass": 0.35, "kp": 40}
REACH = {"latency": 9, "hold": 15, "amplitude": 0.6}


def model(xml):
    return stiction.Model.from_xml(xml)


def fit(xml, logs, parameters, **more):
    return stiction.fit(model(xml), logs, parameters, threads=1, **more)


def deviation(found, estimate):
    """Standard deviation of a logarithm, of its interval by Student's quantile."""
    quantile = stdtrit(found.windows - len(found.estimates), 0.975)
    return np.log(estimate.high / estimate.low) / (2 * quantile)


def swing(**more):
    """6 s of the pendulum of PENDULUM."""
    return log_of(pendulum(0.15, 0.03, 0.2), 6, **(SWING | more))


# --------------------------------------------------------------------------------- recovered


def test_pendulum():
    """One draw: with dry friction intervals are too narrow (docs/fit.md), and of seed 0 the truth is just outside."""
    found = fit(pendulum(0.05, 0.01, 0.05), swing(seed=103), FRICTION)
    assert_recovers(found, PENDULUM)
    assert found.noise == pytest.approx(
        {"qpos[hinge]": 2e-3, "qvel[hinge]": 2e-2}, rel=0.15
    )  # 600 numbers: 3 %, three σ
    assert found.rms_before["qpos[hinge]"] > 5 * found.rms_after["qpos[hinge]"]
    assert not found.undetermined and not found.interrupted


def test_arm_with_latency():
    """Armature one for both joints, kp, too; latency is 9 steps of physics, commands come every 5."""
    parameters = ["dof_damping[shoulder]", "dof_armature", "mass[hand]", "kp", "latency"]
    found = fit(arm(0.1, 0.01, 0.2, 25), log_of(arm(**ARM), 4, **REACH), parameters)
    assert_recovers(
        found, {"dof_damping[shoulder]": 0.4, "dof_armature": 0.02, "mass[hand]": 0.35, "kp": 40, "latency": 0.018}
    )


def test_latency_is_continuous():
    """Of 18.7 ms, in a log of finer steps, by steps of 2 ms."""
    fine = pendulum(0.3, 0.03, 0).replace("0.002", "0.0001")
    log = log_of(fine, 3, every=100, latency=187, **SWING)
    found = fit(pendulum(0.3, 0.03, 0), log, ["latency=0.03"])
    assert found["latency"].value == pytest.approx(0.0187, abs=2e-4)  # a tenth of a step: what its first order costs


def test_block_that_slides_on_a_floor():
    log = log_of(block(2, 0.4), 4, noise=(5e-4, 5e-3), hold=20, amplitude=15, seed=3)
    found = fit(block(1, 0.8), log, ["mass", "geom_friction[block]"])
    assert_recovers(found, {"mass[block]": 2, "geom_friction[block]": 0.4})


def test_free_body_on_a_floor():
    """Its intervals are not asked: where contacts open and close a start has several best values (docs/fit.md)."""
    free = '<freejoint name="root"/>'
    log = log_of(block(2, 0.4, free), 3, noise=(1e-4, 1e-3), hold=20, amplitude=15)
    found = fit(block(1.5, 0.6, free), log, ["mass", "geom_friction[block]"])
    assert found["mass"].value == pytest.approx(2, rel=0.01) and found["geom_friction"].value == pytest.approx(
        0.4, rel=0.01
    )


@pytest.mark.parametrize("velocities", [True, False], ids=["velocities", "positions alone"])
def test_rows_at_another_rate_than_the_physics(velocities):
    """Rows every 7 ± 1 ms, steps of 2 ms: samples lie within steps, and so do new commands."""
    fine = log_of(pendulum(0.15, 0.03, 0.2).replace("0.002", "0.001"), 8, every=1, hold=140, noise=(0, 0), amplitude=2)
    rng = np.random.default_rng(3)
    rows = np.cumsum(rng.integers(6, 9, 1100))
    rows = rows[rows < len(fine.time)]
    noise = lambda scale: scale * rng.normal(size=(len(rows), 1))
    # a row's command is what was held until the next row: with a constant one over 140 steps, but for one row in 20
    ctrl = np.add.reduceat(fine.ctrl, rows) / np.diff([*rows, len(fine.time)])[:, None]
    log = Log(
        fine.time[rows], fine.qpos[rows] + noise(2e-3), fine.qvel[rows] + noise(2e-2) if velocities else None, ctrl
    )
    found = fit(pendulum(0.05, 0.01, 0.05), log, FRICTION)
    for name, truth in PENDULUM.items():
        assert found[name].value == pytest.approx(truth, rel=0.05)


def test_states_that_nobody_measures():
    """The activation of a motor that answers with a time constant of 50 ms is found with it, window by window."""
    lagging = '<general name="motor" joint="hinge" dyntype="filterexact" dynprm="{}"/>'
    xml = lambda tau: pendulum(0.15, 0.03, 0).replace('<motor name="motor" joint="hinge"/>', lagging.format(tau))
    found = fit(xml(0.02), log_of(xml(0.05), 6, **SWING), ["actuator_dynprm", "dof_damping"])
    assert_recovers(found, {"actuator_dynprm[motor]": 0.05, "dof_damping[hinge]": 0.15})


def test_several_logs_are_one_fit():
    logs = [log_of(pendulum(0.15, 0.03, 0.2), 2, seed=seed, **SWING) for seed in range(3)]
    found = fit(pendulum(0.05, 0.01, 0.05), logs, FRICTION)
    assert_recovers(found, PENDULUM)
    assert found.samples == 3 * len(logs[0].time)


# --------------------------------------------------------------------------------- logs of MuJoCo


def test_pendulum_of_mujoco():
    """With dry friction as stiff as ours: MuJoCo's own, of 20 ms, creeps where ours stands."""
    stiff = 'solreffriction="0.004 1" solimpfriction="0.99 0.999 0.001"'
    log = mujoco_log(pendulum(0.15, 0.03, 0.2, stiff), 8, seed=1, **SWING)
    assert_recovers(fit(pendulum(0.05, 0.01, 0.05), log, FRICTION), PENDULUM)


def test_arm_of_mujoco():
    """Our servos are implicit in the position, too: kp (u - q - δt v), which damps by δt kp more than MuJoCo's. So the
    damping with which ours move like MuJoCo's is less by that, and the rest is the same."""
    log = mujoco_log(arm(**ARM), 4, seed=1, **REACH)
    found = fit(arm(0.1, 0.01, 0.2, 25), log, ["dof_damping[*]", "dof_armature", "mass[hand]", "kp", "latency"])
    less = 0.002 * 40
    assert_recovers(
        found,
        {
            "dof_damping[shoulder]": 0.4 - less,
            "dof_damping[elbow]": 0.2 - less,
            "dof_armature": 0.02,
            "mass[hand]": 0.35,
            "kp": 40,
            "latency": 0.018,
        },
    )


# --------------------------------------------------------------------------------- intervals


def test_intervals_hold_what_they_promise():
    """The errors of 24 fits in units of what the intervals say they are: mean square 1, a χ² of 24 within 0.4 and 2."""
    errors = []
    for seed in range(24):
        log = log_of(pendulum(0.15, 0.03, 0), 1.5, every=10, seed=seed, noise=(5e-3, 5e-2), hold=10, amplitude=2)
        found = fit(pendulum(0.1, 0.03, 0), log, "dof_damping")
        e = found["dof_damping"]
        errors.append(np.log(e.value / 0.15) / deviation(found, e))
    assert 0.4 < np.mean(np.square(errors)) < 2


def test_intervals_shrink_with_more_data():
    short, long = (
        fit(pendulum(0.1, 0.03, 0), log_of(pendulum(0.15, 0.03, 0), s, **SWING), "dof_damping") for s in (2, 8)
    )
    width = lambda found: deviation(found, found["dof_damping"])
    assert width(short) / width(long) == pytest.approx(2, rel=0.3)


def test_what_the_model_lacks_is_said_and_widens_the_intervals():
    """Dry friction is in the log and not in the model."""
    log = log_of(pendulum(0.15, 0.03, 0.3), 8, **SWING)
    found = fit(pendulum(0.05, 0.01, 0), log, ["dof_damping", "dof_armature"])
    assert found.scatter > 1.5 and "the model lacks something" in found.table()


# --------------------------------------------------------------------------------- not determined


def test_what_only_the_sum_of_is_known_is_named():
    """kv of a servo and damping of its joint are one number."""
    log = log_of(arm(**ARM), 3, **REACH)
    found = fit(arm(0.1, 0.02, 0.35, 40), log, ["dof_damping[shoulder]", "kv[shoulder]", "latency"])
    (direction,) = found.undetermined
    assert set(direction.shares) == {"dof_damping[shoulder]", "kv[shoulder]"}
    pair = [found[name] for name in direction.shares]
    assert not any(e.determined for e in pair) and found["latency"].determined
    assert sum(e.value for e in pair) == pytest.approx(1.4, rel=0.02)
    # along it the sum stays: shares of the logarithms are as 1/value
    shares = direction.shares
    assert shares["dof_damping[shoulder]"] * pair[0].value == pytest.approx(
        -shares["kv[shoulder]"] * pair[1].value, rel=0.05
    )
    table = found.table()
    assert (
        "the logs do not tell dof_damping[shoulder] and kv[shoulder] apart" in table
        and table.count("not determined") == 2
    )


def test_what_nothing_depends_on_is_named():
    """The block never touches: its friction is in no sample."""
    xml = block(2, 0.4, '<joint name="x" type="slide" axis="1 0 0"/>').replace("0 0 .05", "0 0 .5")
    found = fit(xml, log_of(xml, 2, noise=(1e-3, 1e-2), amplitude=5), ["mass=1.5", "geom_friction[block]=0.7"])
    assert [str(d) for d in found.undetermined] == ["the logs do not determine geom_friction[block]"]
    friction = found["geom_friction[block]"]
    assert not friction.determined and friction.value == pytest.approx(0.7) and found["mass[block]"].determined
    assert "geom_friction[block]: not determined, left as it was" in found.snippet()
    assert found.fitted_model().geom_friction[1, 0] == 0.4


def test_what_is_not_there_is_said_to_be_small():
    found = fit(
        pendulum(0.15, 0.03, 0.1), log_of(pendulum(0.15, 0.03, 0), 6, **SWING), ["dof_frictionloss", "dof_damping"]
    )
    friction = found["dof_frictionloss[hinge]"]
    assert friction.negligible and friction.low == 0 and friction.high < 0.01 and not found.undetermined
    assert f"below {friction.high:.4g}" in found.table()


# --------------------------------------------------------------------------------- bounds, priors, ends


def test_bounds_hold_and_are_said():
    found = fit(pendulum(0.05, 0.03, 0.2), swing(), "dof_damping=0.05,high=0.1")
    e = found["dof_damping[hinge]"]
    assert e.value == pytest.approx(0.1, rel=1e-3) and e.at_bound == "high" and "at its high bound" in found.table()


def test_a_prior_weighs_as_much_as_it_says():
    """With one as sharp as the data's own interval the result is half-way between."""
    log = log_of(pendulum(0.15, 0.03, 0), 3, **SWING)
    found = fit(pendulum(0.15, 0.03, 0), log, "dof_damping")
    free = found["dof_damping"]
    assert found.scatter == 1  # too few windows to say
    sigma = deviation(found, free) * free.value
    start = free.value + 6 * sigma
    held = fit(pendulum(0.15, 0.03, 0), log, [Parameter("dof_damping", start=start, prior=sigma)])["dof_damping[hinge]"]
    assert held.value == pytest.approx((free.value + start) / 2, abs=0.5 * sigma)


def test_ctrl_c_leaves_what_was_found():
    """The signal comes after the fourth better point."""
    points = []

    def progress(evaluations, bounds, u, cost):
        points.append(cost)
        if len(points) == 4:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    found = fit(pendulum(0.05, 0.01, 0.05), swing(), FRICTION, progress=progress)
    assert found.interrupted and "interrupted" in found.table() and found.to_dict()["interrupted"]
    assert points == sorted(points, reverse=True)
    assert abs(found["dof_damping[hinge]"].value - 0.15) < 0.1 - 0.02  # nearer than the start


def test_the_same_twice():
    """And with any number of threads."""
    log = log_of(pendulum(0.15, 0.03, 0.2), 1, **SWING)
    one, two = (stiction.fit(model(pendulum(0.05, 0.01, 0.05)), log, FRICTION, threads=n).to_dict() for n in (1, 2))
    assert one == two
