"""What the laws of stiction and of joint limits cost and give under white noise: the choice of the tasks.

law x v_s x sigma x limits for each robot, one core. All take turns with MuJoCo in one process; `speed` is
relative to the first row of the robot, `ratio` to MuJoCo, both by CPU time, medians of the rounds.

iter_mean, pack_max_mean: Newton iterations of an environment and of the slowest one of its pack, which
    is what a pack pays for
deepest: of a joint beyond its limit, rad or m, where the robots were looked at
error_p50, error_p99: of one float32 step against the reference solved to 1e-10 with the same law, in the
    norm of A, relative to ||v|| + sqrt(m) g dt (`peers.py`)
creep_um_s: the fastest of what touches the ground, 5 s after a fall in gravity tilted by 5 degrees, with the
    controls of the start; rolling shows, too
Writes bench/results/<processor>/laws.csv, a robot as soon as it is done.
"""

import argparse
import itertools
import time

import numpy as np
import stiction

from compare_mujoco import MuJoCo
from peers import creep_ours, relative
from scenes import HOLD, controls, run, scenes, started
from tables import processor, table, write

LAWS = [dict(zip(("limits", "stiction", "stiction_tolerance", "regularization"), x))
        for x in itertools.product(("near_rigid", "solref"), ("regularized", "anchored"),
                                   (1e-4, 1e-3), (1e-3, 1e-2))]  # fmt: skip


def step_errors(model, batch, ctrl, samples) -> np.ndarray:
    """Errors of the next step of some environments, which are left where they were."""
    options, ids = batch.options, np.arange(samples)
    exact = stiction.Reference(model, options.replace(solver_tolerance=1e-10, max_iterations=100))
    before, mass, errors = batch.get_state(), float(model.body_mass.sum()), []
    batch.ctrl[:] = ctrl
    batch.step()
    after = np.array(batch.qvel[ids], float)
    for i in ids:
        # `anchor` has no rows where stiction is regularised
        anchor = {"anchor": before["anchor"][i]} if batch.anchor.size else {}
        s = exact.step(before["qpos"][i], np.array(before["qvel"][i], float), ctrl[i], **anchor)
        errors.append(relative(after[i], s.qvel, s.A, mass, options.timestep))
    batch.set_state(**before)
    return np.array(errors)


class Runner:
    def __init__(self, scene, model, law, num_envs):
        self.scene, self.model, self.law = scene, model, law
        self.batch = started(model, num_envs, threads=1, options=stiction.Options(**law))
        self.seconds, self.deepest = [], 0.0
        limited = model.jnt_limited != 0
        self.joints = np.asarray(model.jnt_qposadr)[limited]
        self.low, self.high = np.asarray(model.jnt_range)[limited].T

    def run(self, part):
        begin = time.process_time()
        run(self.batch, part)
        self.seconds.append((time.process_time() - begin) / (len(part) * HOLD * len(self.batch)))
        q = np.array(self.batch.qpos)[:, self.joints]
        self.deepest = max(self.deepest, float(np.max([self.low - q, q - self.high], initial=0)))

    def row(self, first, mujoco_s, ctrl, samples) -> dict:
        c, errors = self.batch.counts, step_errors(self.model, self.batch, ctrl, samples)
        mine, n = np.array(self.seconds), max(c.env_steps, 1)
        return {
            "model": self.scene.name, **self.law, "speed": f"{np.median(first / mine):.3f}",
            "ratio": f"{np.median(mujoco_s / mine):.2f}", "iter_mean": f"{c.iterations / n:.2f}",
            "pack_max_mean": f"{c.pack_max_iterations / max(c.pack_steps, 1):.2f}",
            "capped": f"{c.not_converged / n:.1e}", "stalled": f"{c.stalled / n:.1e}",
            "late": f"{c.late_contact / n:.1e}", "frozen": int(self.batch.status_count),
            "deepest": f"{self.deepest:.4f}", "error_p50": f"{np.median(errors):.1e}",
            "error_p99": f"{np.quantile(errors, 0.99):.1e}",
            "creep_um_s": f"{1e6 * creep_ours(self.scene, settle=5.0, options=stiction.Options(**self.law)):.3g}",
        }  # fmt: skip


def measure(scene, laws, a) -> list[dict]:
    model = scene.load()
    runners = [Runner(scene, model, law, a.envs) for law in laws]
    theirs, mujoco_s = MuJoCo(scene, model, a.envs, 1), []
    sequence = controls(scene, model, a.envs, a.warm_up + a.steps * a.rounds, motion="noise")
    for r in range(-1, a.rounds):
        begin, end = (0, a.warm_up) if r < 0 else (a.warm_up + r * a.steps, a.warm_up + (r + 1) * a.steps)
        part = sequence[begin // HOLD : end // HOLD]
        for_mujoco = np.ascontiguousarray(np.repeat(part, HOLD, axis=0).transpose(1, 0, 2))
        start = time.process_time()
        theirs.run(for_mujoco)
        mujoco_s.append((time.process_time() - start) / (len(part) * HOLD * a.envs))
        for runner in runners:
            runner.run(part)
        if r < 0:
            mujoco_s.clear()
            for runner in runners:
                runner.seconds.clear(), runner.batch.clear_counts()
    first = np.array(runners[0].seconds)
    return [r.row(first, np.array(mujoco_s), sequence[0], a.samples) for r in runners]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--envs", type=int, default=512)
    parser.add_argument("--warm-up", type=int, default=400, help="steps")
    parser.add_argument("--steps", type=int, default=40, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=64, help="steps solved again by the reference")
    a = parser.parse_args()
    rows = []
    for scene in scenes(a.models):
        part = measure(scene, LAWS, a)
        print(table(part), flush=True)
        rows += part
        write(rows, "laws", processor())


if __name__ == "__main__":
    main()
