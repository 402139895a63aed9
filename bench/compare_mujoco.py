"""Ours against MuJoCo's `mujoco.rollout`: same model file, timestep, start and controls.

MuJoCo runs its Newton solver, its Euler integrator and the cone of the model. Both engines are warmed
up to the same time, then take turns; a speed is the median of the rounds. `contacts` and `mj_contacts`
are what MuJoCo's collider finds in the states of the two, so one measure for both; `points` is the
size of our problem, with the points that may close within the step. `creep` is the fastest foot of a robot that stands by its
keyframe's servos in gravity tilted by 5 degrees, after it came to rest.
`law` and `motion` as in bench_step.py; a ratio belongs to one motion. Writes bench/results/<processor>/mujoco.csv.
"""

import argparse
import time

import mujoco
import numpy as np
from mujoco import rollout
from stiction.control import start_state

from peers import contacts_found, creep_mujoco, creep_ours, mujoco_model
from scenes import HOLD, LAWS, MOTIONS, controls, options, run, scenes, started
from tables import processor, table, write


class MuJoCo:
    """A batch of states that `mujoco.rollout` advances."""

    def __init__(self, scene, model, num_envs, threads):
        self.model = mujoco_model(scene, model.timestep)
        self.data = [mujoco.MjData(self.model) for _ in range(threads)]
        self.spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.state = np.tile(self.start(model), (num_envs, 1))
        self.pool = rollout.Rollout(nthread=threads if threads > 1 else 0)

    def start(self, model):
        data = self.data[0]
        data.qpos[:], data.qvel[:], _ = start_state(model)
        state = np.empty(mujoco.mj_stateSize(self.model, self.spec))
        mujoco.mj_getState(self.model, data, state, self.spec)
        return state

    def run(self, sequence) -> None:
        """The controls as `run` of scenes.py plays them."""
        models = [self.model] * len(self.state)
        states, _ = self.pool.rollout(models, self.data, self.state, sequence)
        self.state = np.ascontiguousarray(states[:, -1])

    def positions(self):
        """(qpos, qvel) of all environments; a full-physics state begins with the time."""
        nq, nv = self.model.nq, self.model.nv
        return self.state[:, 1:1 + nq], self.state[:, 1 + nq:1 + nq + nv]


def compare(scene, law, motion, num_envs, threads, warm_up, steps, rounds) -> dict:
    model = scene.load()
    batch = started(model, num_envs, threads=threads, options=options(scene, law))
    theirs = MuJoCo(scene, model, num_envs, threads)
    sequence = controls(scene, model, num_envs, warm_up + steps * rounds, motion=motion)
    # (num_envs, steps, nu), made outside the timed part
    part = lambda a, b: np.ascontiguousarray(
        np.repeat(sequence[a // HOLD : b // HOLD], HOLD, axis=0).transpose(1, 0, 2))
    run(batch, sequence[: warm_up // HOLD])
    theirs.run(part(0, warm_up))
    batch.clear_counts()
    ours_s, theirs_s, contacts, mj_contacts = [], [], [], []
    for r in range(rounds):
        a, b = warm_up + r * steps, warm_up + (r + 1) * steps
        for_mujoco = part(a, b)
        begin = time.perf_counter()
        run(batch, sequence[a // HOLD : b // HOLD])
        middle = time.perf_counter()
        theirs.run(for_mujoco)
        ours_s.append(middle - begin)
        theirs_s.append(time.perf_counter() - middle)
        contacts.append(contacts_found(theirs.model, theirs.data[0], batch.qpos, batch.qvel))
        mj_contacts.append(contacts_found(theirs.model, theirs.data[0], *theirs.positions()))
    count = (b // HOLD - a // HOLD) * HOLD * num_envs
    ours, mujoco = count / np.median(ours_s), count / np.median(theirs_s)
    counts = batch.counts
    creep = {"creep_um_s": "", "mj_creep_um_s": ""}
    if model.nkey and motion == "smooth":
        creep = {"creep_um_s": f"{1e6 * creep_ours(scene, threads=1, options=options(scene, law)):.3g}",
                 "mj_creep_um_s": f"{1e6 * creep_mujoco(scene):.3g}"}  # fmt: skip
    return {
        "model": scene.name, "law": law, "motion": motion, "nv": model.nv, "envs": num_envs, "threads": threads, "isa": batch.isa,
        "steps_per_s": round(ours), "mj_steps_per_s": round(mujoco), "ratio": f"{ours / mujoco:.2f}",
        "points": f"{counts.contacts / max(counts.env_steps, 1):.2f}",
        "iter_mean": f"{counts.iterations / max(counts.env_steps, 1):.2f}",
        "pack_max_mean": f"{counts.pack_max_iterations / max(counts.pack_steps, 1):.2f}",
        "bytes_per_env": batch.memory.per_env,
        "contacts": f"{np.mean(contacts):.2f}", "mj_contacts": f"{np.mean(mj_contacts):.2f}",
        "frozen": int(batch.status_count), **creep,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", help="names of scenes, or MJCF files")
    parser.add_argument("--law", choices=LAWS, default="task")
    parser.add_argument("--motion", nargs="+", choices=MOTIONS, default=MOTIONS)
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--warm-up", type=int, default=500, help="steps; the robots have landed")
    parser.add_argument("--steps", type=int, default=100, help="of a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--short", action="store_true", help="256 environments, 3 rounds")
    a = parser.parse_args()
    if a.short:
        a.envs, a.steps, a.rounds = 256, 40, 3
    rows = [compare(s, a.law, m, a.envs, t, a.warm_up, a.steps, a.rounds)
            for s in scenes(a.models) for m in a.motion for t in a.threads]  # fmt: skip
    print(table(rows))
    if not any(name.endswith(".xml") for name in a.models or ()):  # whose are nobody else's
        write(rows, "mujoco", processor())


if __name__ == "__main__":
    main()
