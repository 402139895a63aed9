"""The examples of docs/gradient_examples.md, smaller: each goes where it should, and gradients are those of differences."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import stiction

ROOT = Path(__file__).parents[2]


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_arm_pushes_a_ball_to_its_target(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    ilqr = example("ilqr")
    found = ilqr.main(["--scene", "push", "--iterations", "16", "--figure", str(tmp_path / "push.png")])["push"]
    plan = found[-1]
    start = stiction.Batch(ilqr.push(*ilqr.SCHEDULE[-1]).model, 1)
    start.reset(qpos=found[0].qpos[0])
    assert start.ncon[0] == 1  # the ball on the floor
    assert ilqr.left("push", plan) < 0.05  # of 0.35 m
    assert plan.cost < 0.05 * found[0].costs[0]
    assert np.all(np.abs(plan.ctrl) <= [4, 2])
    assert (tmp_path / "push.png").stat().st_size > 10_000
    assert "mm from the target" in capsys.readouterr().out


def test_without_the_hands_term_nothing_leads_to_the_ball():
    """At rest without contact the derivative of the ball to each control is exactly zero."""
    ilqr = example("ilqr")
    problem = ilqr.push(*ilqr.SCHEDULE[0])
    from stiction.ilqr import ilqr as solve

    plan = solve(problem, iterations=0)
    ball = problem.jacobians(plan)["sensordata"][:, 3:, -2:]
    assert np.all(ball == 0)


def test_a_finger_turns_a_cylinder():
    ilqr = example("ilqr")
    plan, plans = ilqr.solve("turn", 14)
    assert ilqr.left("turn", plan) < 0.3  # of 2 rad
    assert plan.cost < 0.05 * plans[0].costs[0]


@pytest.mark.parametrize("scene", ["push", "turn"])
def test_the_gradient_of_a_plan_in_contact_is_that_of_differences(scene):
    """The line search forgives a wrong derivative in many a step; this does not."""
    from stiction.ilqr import gradient
    from stiction.ilqr import ilqr as solve

    problem = example("ilqr").SCENES[scene](1e3, 1e-2)
    plan = solve(problem, iterations=7)
    problem.along.reset(qpos=plan.qpos[:-1], qvel=plan.qvel[:-1])
    assert problem.along.ncon.max() == {"push": 2, "turn": 1}[scene]  # the hand touches
    within = (plan.ctrl > problem.low + 0.01) & (plan.ctrl < problem.high - 0.01)
    direction = np.random.default_rng(0).standard_normal(plan.ctrl.shape) * within
    cost = [problem.rollout(plan.ctrl + h * direction)[2][0] for h in (1e-6, -1e-6)]
    # the tip bounces: differences of 1e-4 N m are twice as large
    assert np.sum(gradient(problem, plan) * direction) == pytest.approx((cost[0] - cost[1]) / 2e-6, rel=1e-3)


def test_each_puck_slides_to_its_own_target(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    mpc = example("mpc")
    arguments = ["--envs", "8", "--iterations", "6", "--seed", "3", "--figure", str(tmp_path / "mpc.png")]
    history = mpc.main(arguments)
    assert history[0].mean() > 0.05  # m
    # Gauss and Newton with an exact derivative: quadratic, to a micrometre and below in six steps
    assert history[-1].max() < 1e-6
    assert (tmp_path / "mpc.png").stat().st_size > 10_000
    assert "8 pucks" in capsys.readouterr().out


def test_the_gradient_of_the_pucks_is_that_of_differences():
    mpc = example("mpc")
    pucks = mpc.Pucks(4, 1)
    ctrl = mpc.first_guess(4)
    direction = np.random.default_rng(0).standard_normal(ctrl.shape)
    exact = np.sum(pucks.gradient(pucks.rollout(ctrl)[0], ctrl) * direction, axis=(0, 2))
    h = 1e-5
    difference = (pucks.rollout(ctrl + h * direction)[1] - pucks.rollout(ctrl - h * direction)[1]) / (2 * h)
    # steps are solved to 1e-6 of their momentum, which differences divide by h
    assert exact == pytest.approx(difference, rel=1e-2)


@pytest.mark.parametrize("scene", ["box", "leg"])
def test_parameters_are_found_from_trajectories_of_mujoco(scene):
    """Within 5 %, what the two engines' integration and friction differ by; noise alone would leave 0.3 %."""
    pytest.importorskip("mujoco")
    pytest.importorskip("scipy")
    found, true, _ = example("identify_mujoco").solve(scene)
    assert found.converged
    assert found.value == pytest.approx(true, rel=0.05)
    assert np.all(found.deviation < 0.01 * true)
