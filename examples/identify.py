"""Finds friction, mass, stiffness and dissipation of a box from noisy films of it being dropped and pushed.

    python examples/identify.py [figure.png]

Least squares by Gauss and Newton. A step says how the state after it moves with the state before it and with the
parameters p, so the sensitivity S = dx/dp goes along with the simulation, S' = J_x S + J_p; and the matrix of the
last iteration says how well each parameter is known.
"""

import sys
import time

import numpy as np

import stiction

BOX = """<mujoco><option timestep="0.004"/><worldbody>
  <geom name="floor" type="plane" size="2 2 .1" friction="0.01"/>
  <body name="box" pos="0 0 0.07"><freejoint/><geom name="box" type="box" size="0.06 0.05 0.04" mass="1"/></body>
</worldbody></mujoco>"""
NAMES = ("friction", "mass", "stiffness", "dissipation")
UNITS = ("", "kg", "N/m", "s/m")
TRUE = np.array([0.45, 0.7, 3000.0, 0.6])
START = np.array([0.25, 1.3, 1200.0, 0.2])
STEPS, NOISE = 250, 5e-4  # m
PUSHES = np.array([[3.0, 0], [4, 1], [5, 0], [4, -2], [6, 0], [6, 2]])  # N, from 0.3 s to 0.6 s


class Films:
    """The same box in several films, with one set of parameters."""

    def __init__(self):
        self.model = stiction.Model.from_xml(BOX)
        self.batch = stiction.Batch(self.model, len(PUSHES), precision="float64")
        self.box = self.model.geom("box")
        self.body = self.model.body("box")
        # of a solid box all moments are in proportion to the mass
        self.inertia_per_mass = np.array(self.model.body_inertia[self.body]) / self.model.body_mass[self.body]
        self.derivative = stiction.StepDerivative(
            self.batch,
            wrt=("qpos", "qvel", "geom_friction", "body_mass", "body_inertia", "pair_stiffness", "pair_dissipation"),
        )

    def columns(self, jacobian, p):
        """J_p to the logarithms of the parameters."""
        wrt = self.derivative.wrt
        inertia = wrt["body_inertia"].start + 3 * self.body
        return np.stack(
            [
                p[0] * jacobian[..., wrt["geom_friction"].start + self.box],
                p[1] * jacobian[..., wrt["body_mass"].start + self.body]
                + p[1] * jacobian[..., inertia : inertia + 3] @ self.inertia_per_mass,
                p[2] * jacobian[..., wrt["pair_stiffness"].start],
                p[3] * jacobian[..., wrt["pair_dissipation"].start],
            ],
            axis=-1,
        )

    def play(self, p, sensitive=True):
        """Positions (steps, films, 3), and their derivatives to log p (steps, films, 3, 4)."""
        b = self.batch
        b.reset()
        b.param("geom_friction")[:, self.box] = p[0]
        b.param("body_mass")[:, self.body] = p[1]
        b.param("body_inertia")[:, self.body] = p[1] * self.inertia_per_mass
        b.param("pair_stiffness")[:] = p[2]
        b.param("pair_dissipation")[:] = p[3]
        sensitivity = np.zeros((len(PUSHES), 12, 4))
        positions, slopes = [], []
        for step in range(STEPS):
            b.qfrc_applied[:, :2] = PUSHES if 75 <= step < 150 else 0.0
            if sensitive:
                j = self.derivative.jacobian()
                sensitivity = j[..., :12] @ sensitivity + self.columns(j, p)
                slopes.append(sensitivity[:, :3])
            b.step()
            positions.append(np.array(b.qpos[:, :3]))
        return np.array(positions), np.array(slopes)


def identify(films, measured, p, tell=print):
    """(parameters, their standard deviations as a share, the path of the iteration)"""
    path, damping = [p], 1e-3
    positions, slopes = films.play(p)
    for iteration in range(30):
        r = (measured - positions).ravel() / NOISE
        j = slopes.reshape(-1, 4) / NOISE
        normal = j.T @ j
        tell(f"{iteration:3d}  cost/measurement {r @ r / r.size:10.3f}   " + "  ".join(f"{x:9.4g}" for x in p))
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), j.T @ r)
        step *= min(1.0, 0.7 / np.abs(step).max())  # of a logarithm
        trial = p * np.exp(step)
        new_positions, new_slopes = films.play(trial)
        if np.sum((measured - new_positions) ** 2) < np.sum((measured - positions) ** 2):
            p, positions, slopes, damping = trial, new_positions, new_slopes, damping / 10
            path.append(p)
            if np.abs(step).max() < 1e-4:
                break
        else:
            damping *= 10
            if damping > 1e6:
                break
    return p, np.sqrt(np.diag(np.linalg.inv(normal))), np.array(path)


def draw(file, measured, before, after, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    t = 0.004 * np.arange(1, STEPS + 1)
    for axis, k, name in ((left, 0, "x"), (middle, 2, "z")):
        for film in range(len(PUSHES)):
            axis.plot(t, 1e3 * measured[:, film, k], ".", ms=1.5, color="0.6", label="measured" if film == 0 else None)
            axis.plot(t, 1e3 * before[:, film, k], "--", lw=0.8, color="C1", label="first guess" if film == 0 else None)
            axis.plot(t, 1e3 * after[:, film, k], lw=0.9, color="C0", label="identified" if film == 0 else None)
        axis.set(xlabel="s", ylabel=f"{name}, mm")
    left.legend(frameon=False)
    for k, name in enumerate(NAMES):
        right.plot(path[:, k] / TRUE[k], "o-", ms=3, label=name)
    right.axhline(1, color="0.6", lw=0.8)
    right.set(xlabel="iteration", ylabel="found / true", yscale="log")
    right.legend(frameon=False)
    figure.savefig(file, dpi=130)


def main(file="identify.png"):
    begin = time.perf_counter()
    films = Films()
    clean, _ = films.play(TRUE, sensitive=False)
    measured = clean + NOISE * np.random.default_rng(1).standard_normal(clean.shape)
    before, _ = films.play(START, sensitive=False)
    p, deviation, path = identify(films, measured, START)
    for name, unit, found, true, share in zip(NAMES, UNITS, p, TRUE, deviation, strict=True):
        print(f"{name:12s} {found:9.4g} {unit:4s} ± {100 * share:5.2f} %   true {true:9.4g}: {100 * (found / true - 1):+.2f} %")
    draw(file, measured, before, films.play(p, sensitive=False)[0], path)
    print(f"{file}, {time.perf_counter() - begin:.0f} s")
    return p, deviation


if __name__ == "__main__":
    main(*sys.argv[1:2])
