"""Plans of 256 environments at once: each slides its own puck to its own target, by gradients through a rollout.

    python examples/mpc.py [--envs N] [--iterations N] [--seed S] [--figure out/mpc.png]

A pusher on a rail accelerates a puck and lets it go, and friction stops it. Masses, frictions and targets differ from
environment to environment, and at the start nothing touches. The miss r = x - target at the end has the gradient g to
the controls, one call of `PureStep.pull_rollout` for all environments. With one residual the step of Levenberg and
Marquardt is

    δu = -g r / (g·g + λ)

without a matrix: the least change of the controls that should bring the puck to its target. Each environment has its
own λ and keeps its best plan.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import stiction
from stiction.gradients import PureStep

DT, STEPS = 0.02, 40
RAIL = f"""<mujoco><option timestep="{DT}"/><worldbody>
  <geom name="floor" type="plane" size="3 1 .1" contype="1" conaffinity="1"/>
  <body name="pusher" pos="0 0 0.05"><joint name="pusher" type="slide" axis="1 0 0" damping="0.5"/>
    <geom name="pusher" size="0.05" mass="0.5" friction="0" contype="2" conaffinity="2"/></body>
  <body name="puck" pos="0.12 0 0.05"><joint name="x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom name="puck" size="0.05" mass="0.5" contype="3" conaffinity="3"/></body>
</worldbody>
<actuator><motor joint="pusher" ctrlrange="-10 10"/></actuator></mujoco>"""
X = 1  # of qpos: the puck's way
MOST = 10.0  # N
STIFFNESS, DISSIPATION = 1e4, 5.0  # N/m, s/m


class Pucks:
    def __init__(self, num_envs, seed):
        model = stiction.Model.from_xml(RAIL)
        for geom in range(model.ngeom):
            model = model.with_contact_material(geom, stiffness=2 * STIFFNESS, dissipation=DISSIPATION)
        options = stiction.Options(friction_iterations=1)
        self.batch = stiction.Batch(model, num_envs, options=options, precision="float64")
        rng = np.random.default_rng(seed)
        self.mass = rng.uniform(0.3, 0.8, num_envs)
        self.friction = rng.uniform(0.2, 0.4, num_envs)
        self.target = rng.uniform(0.1, 0.5, num_envs)
        self.batch.param("body_mass")[:, model.body("puck")] = self.mass
        for geom in ("floor", "puck"):  # of two geoms the larger coefficient counts
            self.batch.param("geom_friction")[:, model.geom(geom)] = self.friction
        self.batch.reset()
        self.state = {"qpos": np.array(self.batch.qpos), "qvel": np.array(self.batch.qvel)}
        self.step = PureStep(self.batch)

    def rollout(self, ctrl):
        """(states, r) of controls (STEPS, num_envs, 1)."""
        states = self.step.rollout(self.state, ctrl)
        return states, states["qpos"][-1, :, X] - self.target

    def gradient(self, states, ctrl):
        """Derivative of r to the controls, in all environments."""
        weights = np.zeros_like(states["qpos"])
        weights[-1, :, X] = 1.0
        return self.step.pull_rollout(states, ctrl, {"qpos": weights}, ("ctrl",))["ctrl"]


def first_guess(num_envs):
    """A push and a brake, the same for all."""
    ctrl = np.zeros((STEPS, num_envs, 1))
    ctrl[:12], ctrl[12:24] = 4.0, -4.0
    return ctrl


def optimize(pucks, ctrl, iterations):
    """(controls, states, |r| after each iteration (iterations + 1, num_envs))"""
    damping = np.full(ctrl.shape[1], 1e-6)
    states, r = pucks.rollout(ctrl)
    history, g = [np.abs(r)], pucks.gradient(states, ctrl)
    for _ in range(iterations):
        # a control at its bound, which the step would push beyond it, stays there
        down = g * r[:, None] > 0
        held = (ctrl >= MOST) & ~down | (ctrl <= -MOST) & down
        free = np.where(held, 0.0, g)
        step = -free * (r / (np.sum(free**2, axis=(0, 2)) + damping))[:, None]
        step *= np.minimum(1.0, 4.0 / np.maximum(np.abs(step).max(axis=(0, 2)), 1e-12))[:, None]  # at most 4 N
        trial = np.clip(ctrl + step, -MOST, MOST)
        new_states, new_r = pucks.rollout(trial)
        better = np.abs(new_r) < np.abs(r)
        ctrl = np.where(better[:, None], trial, ctrl)
        states = {name: np.where(better[:, None], new_states[name], x) for name, x in states.items()}
        r, damping = np.where(better, new_r, r), np.where(better, damping / 10, damping * 10 + 1e-6)
        history.append(np.abs(r))
        g = pucks.gradient(states, ctrl)
    return ctrl, states, np.array(history)


def draw(file, pucks, before, after, history):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (ways, ends, fall) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    t = DT * np.arange(STEPS + 1)
    for env in range(min(12, len(pucks.target))):
        ways.plot(t, after["qpos"][:, env, X], color=f"C{env % 10}", lw=0.9)
        ways.plot(t[-1], pucks.target[env], "x", color=f"C{env % 10}", ms=5)
    ways.set(xlabel="s", ylabel="way of the puck, m", title="plans of 12 environments, and targets")
    for states, color, label in ((before, "0.6", "before"), (after, "C0", "after")):
        ends.plot(pucks.target, states["qpos"][-1, :, X], ".", ms=3, color=color, label=label)
    ends.set(xlabel="target, m", ylabel="way at the end, m")
    ends.legend(frameon=False)
    for share, label in ((0.5, "half"), (0.9, "nine of ten"), (1.0, "all")):
        fall.semilogy(1e3 * np.quantile(history, share, axis=1), "o-", ms=3, label=f"{label} are nearer")
    fall.set(xlabel="iteration", ylabel="distance from the target, mm")
    fall.legend(frameon=False)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", default="out/mpc.png")
    args = parser.parse_args(arguments)
    begin = time.perf_counter()
    pucks, ctrl = Pucks(args.envs, args.seed), first_guess(args.envs)
    before, _ = pucks.rollout(ctrl)
    _, after, history = optimize(pucks, ctrl, args.iterations)
    draw(args.figure, pucks, before, after, history)
    first, last = 1e3 * history[0], 1e3 * history[-1]
    print(f"{args.envs} pucks: return (minus the distance) {-first.mean():.1f} to {-last.mean():.2f} mm on average, "
          f"{last.max():.2f} mm at worst, {np.mean(last < 5):.1%} within 5 mm; {time.perf_counter() - begin:.0f} s")
    return history


if __name__ == "__main__":
    main()
