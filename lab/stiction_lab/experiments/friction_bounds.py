"""Bounds of friction: what a number of solves, bounds that follow and their fixed point cost in Newton iterations, and
how far each is from Coulomb's law with the impulses of the step itself."""

import numpy as np

import stiction
from stiction.control import control_range, start_state

from ..experiment import COLOURS, Experiment, Result, axes, legends

ROBOTS = ("go1_feetonly", "g1_feetonly")
SOLVES, TOLERANCE, HOLD = (1, 2, 3), 0.02, 4
LAWS = (*SOLVES, "up to 3", "auto", "fixed_point")
COLOUR = dict(zip(LAWS, ("similar", "ccp", "admm", "sap", "lagged", "ncp"), strict=True))
# p99 of the error of bounds that follow: the rule is 2 % of the impulse, and the velocity of what is light errs by up to
# five times that
SHARE = 0.1


def norms(mass, v):
    return np.sqrt(np.einsum("ni,nij,nj->n", v, mass, v))


class Robot:
    """Batches of a robot under each law, and states that white noise of its controls visits at the fixed point."""

    def __init__(self, name, envs):
        self.model, self.rng, self.envs = stiction.assets.load(name), np.random.default_rng(3), envs
        self.batches = {law: self.batch(law) for law in (*SOLVES, "auto", "fixed_point")}
        self.moves = self.batch("fixed_point")
        qpos, qvel, _ = start_state(self.model)
        self.moves.set_state(qpos=np.tile(qpos, (envs, 1)), qvel=np.tile(qvel, (envs, 1)))
        self.fall = np.sqrt(self.model.body_mass.sum()) * 9.81 * self.moves.options.timestep

    def batch(self, law):
        options = stiction.Options(friction_iterations=law, solver_tolerance=1e-8, max_iterations=100)
        return stiction.Batch(self.model, self.envs, options, threads=1, precision="float64")

    def advance(self, controls):
        low, high = control_range(self.model)
        for _ in range(controls):
            self.moves.ctrl[:] = self.rng.uniform(low, high, (self.envs, self.model.nu))
            self.moves.step(HOLD)

    def errors(self):
        """law -> (errors of the velocity after the next step, its iterations, what friction_error says)."""
        state, mass = self.moves.get_state(), np.array(self.moves.M)
        after, iterations, left = {}, {}, {}
        for law, batch in self.batches.items():
            batch.set_state(**state)
            batch.ctrl[:] = self.moves.ctrl
            left[law] = np.array(batch.friction_error)
            batch.step()
            after[law], iterations[law] = np.array(batch.qvel), np.array(batch.solver_niter, float).ravel()
        # one solve after the other until friction is within the tolerance, at most three
        enough = np.select([left[1] <= TOLERANCE, left[2] <= TOLERANCE], [1, 2], 3)
        for found in (after, iterations, left):
            of = np.stack([found[s] for s in SOLVES])
            found["up to 3"] = of[enough - 1, np.arange(self.envs)]
        exact = after["fixed_point"]
        size = norms(mass, exact - state["qvel"]) + self.fall
        return {law: (norms(mass, after[law] - exact) / size, iterations[law], left[law]) for law in LAWS}


def run(full):
    r = Result("Bounds of friction that follow within one Newton loop cost a few tenths of an iteration more than one solve, half of "
               "three, and are nearer to Coulomb's law than these. The fixed point costs as much as three and is one answer.")
    envs, samples = (256, 40) if full else (64, 6)
    figure, shown = axes(2, len(ROBOTS), width=9.0)
    for column, name in enumerate(ROBOTS):
        robot = Robot(name, envs)
        robot.advance(50)
        found = {law: [] for law in LAWS}
        for _ in range(samples):
            robot.advance(3)
            for law, numbers in robot.errors().items():
                found[law].append(numbers)
        error, iterations, left = ({law: np.concatenate([s[k] for s in found[law]]) for law in LAWS} for k in range(3))
        settled = left["fixed_point"] <= 1e-8
        rms = {law: float(np.sqrt(np.mean(error[law][settled] ** 2))) for law in LAWS}
        p99 = {law: float(np.quantile(error[law][settled], 0.99)) for law in LAWS}
        mean = {law: float(iterations[law].mean()) for law in LAWS}
        r.gate(f"{name}: share of steps that have a fixed point", settled.mean(), low=0.99)
        r.gate(f"{name}: p99 of the error of auto", p99["auto"], high=SHARE)
        r.gate(f"{name}: p99 of the error of one solve", p99[1], low=SHARE, control=True)
        r.gate(f"{name}: rms of auto in that of up to three solves", rms["auto"] / rms["up to 3"], high=1.0)
        r.gate(f"{name}: iterations of auto in those of three solves", mean["auto"] / mean[3], high=1.0)
        r.gate(f"{name}: share of auto's steps whose friction is within 2 %", np.mean(left["auto"] <= TOLERANCE), low=0.95)
        for law in LAWS:
            label = law if isinstance(law, str) else f"{law} solve{'s' if law > 1 else ''}"
            r.row(f"{name}, {label}: iterations, mean, p99, most",
                  f"{mean[law]:.2f}, {np.quantile(iterations[law], 0.99):.0f}, {iterations[law].max():.0f}")
            r.row(f"{name}, {label}: error, rms and p99", f"{100 * rms[law]:.2f} and {100 * p99[law]:.2f} %")
            if law != "fixed_point":
                share = np.arange(settled.sum(), 0, -1) / settled.sum()
                shown[column].loglog(np.sort(np.maximum(error[law][settled], 1e-6)), share, color=COLOURS[COLOUR[law]], label=label)
            count = np.bincount(iterations[law].astype(int)) / len(iterations[law])
            shown[2 + column].semilogy(np.where(count > 0, count, np.nan), "o-", ms=3, color=COLOURS[COLOUR[law]], label=label)
        shown[column].set(xlabel=f"{name}: error of a step", ylabel="share of steps above it", xlim=(1e-4, 2))
        shown[2 + column].set(xlabel="Newton iterations", ylabel="share of steps")
    legends(*shown, fontsize=7)
    r.figures.append((figure, f"{envs * samples} states of each robot under white noise of its controls, float64, ε_r = 1e-8. Error of the velocity "
                              "against the fixed point, in the norm of M, in what the step changes. Up to 3: solves one after the other until "
                              "friction is right within 2 % of the step's impulse."))
    return r


EXPERIMENT = Experiment("friction-bounds", "Bounds of friction that follow", "found here", run)
