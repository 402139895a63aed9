"""What a Jacobian of one step costs, against `mujoco.mjd_transitionFD`, on one core, in states with contact.

Both give d(qpos, qvel) after a step to (qpos, qvel, ctrl) before it, c = 2 nv + nu columns, at the same states: those
of a batch that random controls have moved for `--warm-up` steps. Ours is `StepDerivative.jacobian` of a batch; a time
is that of an environment. They take turns; times are processor time, so that neighbours on the machine count little,
and medians of the rounds, as are the ratios of times of a round.

The two differentiate different steps. Ours is exact, of the convex problem solved to round-off in double; MuJoCo's is a
difference (1e-6) of its own step, with Newton's method to the model's tolerance and Euler's integrator, and for columns
of qvel and ctrl it leaves out the stages that do not depend on them.

What lab/notes/gradients.md counts: a Jacobian is c/8 passes of 3 F vector operations of eight lanes, with F those of
the stages of a step. A batch that did eight environments at once in double would take F of these for eight steps, so a
Jacobian is at most 3 c of its steps, against 2 c of MuJoCo: `predicted` is 2/3 of our steps per second in double, with
one solve for friction, over MuJoCo's. A product goes backward, on a tape.
`product` is in steps of the batch, which has float32 as by default, by the same friction.

Options are those of the robot's task, but for friction_iterations: one solve, and "fixed_point", since "auto", the
default, has no derivative. `contacts` is what MuJoCo's collider finds at the states; `doubtful` and
`inexact` count environments by `StepDerivative.status` and `exact`. Writes bench/results/<processor>/gradients.csv.
"""

import argparse
import copy
import time

import mujoco
import numpy as np
import stiction

from peers import contacts_found, mujoco_model
from scenes import controls, options, run, scenes, started
from tables import processor, table, write

MODELS = ("ant", "hopper", "humanoid", "go2")
FRICTION = (1, "fixed_point")
STEPS = 10


def seconds(call) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


class Ours:
    """Batches at the same states, the second in double and with one solve, and the derivative of the first."""

    def __init__(self, scene, friction, num_envs, warm_up):
        model, given = scene.load(), options(scene)
        self.batch = started(model, num_envs, threads=1, options=given.replace(friction_iterations=friction))
        self.double = started(model, num_envs, threads=1, options=given.replace(friction_iterations=1),
                              precision="float64")  # fmt: skip
        run(self.batch, controls(scene, model, num_envs, warm_up))
        self.state = {name: np.array(getattr(self.batch, name), float) for name in ("qpos", "qvel")}
        self.double.ctrl[:] = self.batch.ctrl
        self.derivative = stiction.StepDerivative(self.batch)
        self.weights = np.random.default_rng(0).standard_normal((num_envs, self.derivative.rows))

    def step(self, batch):
        batch.set_state(**self.state)
        return seconds(lambda: batch.step(STEPS)) / STEPS

    def times(self):
        """Of a Jacobian, a product and steps in float32 and float64."""
        self.batch.set_state(**self.state)
        return (seconds(self.derivative.jacobian), seconds(lambda: self.derivative.product(self.weights)),
                self.step(self.batch), self.step(self.double))  # fmt: skip


class MuJoCo:
    """Its data at the states of a batch."""

    def __init__(self, scene, ours):
        self.model = mujoco_model(scene, ours.batch.options.timestep)
        m = self.model
        self.A, self.B = np.empty((2 * m.nv, 2 * m.nv)), np.empty((2 * m.nv, m.nu))
        self.data = []
        for q, v, u in zip(*ours.state.values(), np.array(ours.batch.ctrl, float), strict=True):
            data = mujoco.MjData(m)
            data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
            mujoco.mj_forward(m, data)  # and the solver's start
            self.data.append(data)

    def difference(self, centred):
        for data in self.data:
            mujoco.mjd_transitionFD(self.model, data, 1e-6, centred, self.A, self.B, None, None)

    def step(self):
        copies = [copy.copy(data) for data in self.data]
        return seconds(lambda: [mujoco.mj_step(self.model, data, STEPS) for data in copies]) / STEPS

    def times(self):
        return seconds(lambda: self.difference(True)), seconds(lambda: self.difference(False)), self.step()


def compare(scene, friction, num_envs, warm_up, rounds) -> dict:
    ours = Ours(scene, friction, num_envs, warm_up)
    theirs = MuJoCo(scene, ours)
    ours.times(), theirs.times()  # caches warm
    rounds = np.array([(*ours.times(), *theirs.times()) for _ in range(rounds)]) * 1e6 / num_envs
    jacobian, product, step, double, centred, one_sided, mj_step = np.median(rounds, axis=0)
    ratio = lambda a, b: np.median(rounds[:, a] / rounds[:, b])  # of times in one round
    model, derivative = ours.batch.model, ours.derivative
    return {
        "model": scene.name, "nv": model.nv, "columns": derivative.columns, "envs": num_envs, "isa": ours.batch.isa,
        "friction": friction,
        "contacts": f"{contacts_found(theirs.model, theirs.data[0], *ours.state.values()):.2f}",
        "jacobian_us": f"{jacobian:.1f}", "mj_centred_us": f"{centred:.1f}", "mj_one_sided_us": f"{one_sided:.1f}",
        "ratio": f"{ratio(4, 0):.2f}", "ratio_one_sided": f"{ratio(5, 0):.2f}",
        "predicted": f"{2 / 3 * ratio(6, 3):.2f}",
        "step_us": f"{step:.2f}", "step64_us": f"{double:.2f}", "mj_step_us": f"{mj_step:.2f}",
        "product_us": f"{product:.1f}", "product": f"{ratio(1, 2):.0f}", "bytes_per_thread": derivative.memory,
        "doubtful": int(np.count_nonzero(derivative.status)), "inexact": int(np.count_nonzero(~derivative.exact)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS, help="names of scenes, or MJCF files")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--warm-up", type=int, default=500, help="steps; the robots have landed")
    parser.add_argument("--rounds", type=int, default=9)
    a = parser.parse_args()
    rows = [compare(scene, f, a.envs, a.warm_up, a.rounds) for scene in scenes(a.models) for f in FRICTION]
    print(table(rows))
    if not any(name.endswith(".xml") for name in a.models):  # whose are nobody else's
        write(rows, "gradients", processor())


if __name__ == "__main__":
    main()
