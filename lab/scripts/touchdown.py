"""A foot lands while it slides: how much friction, and when, against Coulomb's law.

A ball of 1 kg on slides in x and z meets the floor at v_z = -v_n, v_x = v_t, without gravity. Sliding all
the while, the impulses are J_t = mu J_n, and both act at the same time. `ratio` is J_t/(mu J_n), over
phases of the landing within a step; `delay` the distance of the centres in time of the two impulses. With v_t
small the foot ends at rest: `slip` is the way to there, against v_t/(mu v_n) of the time of the impact.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import stiction

MU, RADIUS, PHASES, TIME = 0.8, 0.05, 8, 0.3
XML = """<mujoco><option timestep="{dt}" gravity="0 0 0"/><worldbody>
<geom type="plane" size="5 5 5" friction="{mu}"/>
<body pos="0 0 {r}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom type="sphere" size="{r}" mass="1" friction="{mu}" {material}/></body></worldbody></mujoco>"""


def xml(dt, material):
    return XML.format(dt=dt, mu=MU, r=RADIUS, material=material)


def ours(dt, qpos, qvel, material, engine):
    """Velocities after every step, (steps, phases, 2)."""
    model = stiction.Model.from_xml(xml(dt, material))
    batch = stiction.Batch(model, len(qpos), precision="float64", options=stiction.Options(**engine))
    batch.qpos[:], batch.qvel[:] = qpos, qvel
    result = [qvel]
    for _ in range(round(TIME / dt)):
        batch.step()
        result.append(np.array(batch.qvel))
    return np.array(result)


def mujocos(dt, qpos, qvel, material, change):
    import mujoco

    m = mujoco.MjModel.from_xml_string(xml(dt, material))
    for name, value in change.items():
        setattr(m.opt, name, value)
    result = np.empty((round(TIME / dt) + 1, *qvel.shape))
    for i in range(len(qpos)):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = qpos[i], qvel[i]
        result[0, i] = qvel[i]
        for k in range(len(result) - 1):
            mujoco.mj_step(m, d)
            result[k + 1, i] = d.qvel
    return result


ENGINES = {
    "lagged": (ours, {}),
    "lagged, 2 solves": (ours, {"friction_iterations": 2}),
    "similar": (ours, {"contact_model": "similar"}),
    "sap": (ours, {"contact_model": "sap"}),
    "mujoco": (mujocos, {}),
    "mujoco elliptic": (mujocos, {"cone": 1}),
    "mujoco elliptic, impratio 100": (mujocos, {"cone": 1, "impratio": 100}),
}
MATERIALS = {"default": "", "solref 5 ms": 'solref="0.005 1"'}


def measure(engine, dt, v_n, v_t, material):
    step, options = engine
    # lands after 2 to 3 steps, at PHASES places within a step
    z = v_n * dt * (2 + (np.arange(PHASES) + 0.5) / PHASES)
    qpos, qvel = np.zeros((PHASES, 2)), np.tile([v_t, -v_n], (PHASES, 1))
    qpos[:, 1] = z
    v = step(dt, qpos, qvel, material, options)
    dv = np.diff(v, axis=0)  # (steps, phases, 2)
    j_n, j_t = dv[..., 1], -dv[..., 0]
    t = dt * np.arange(len(dv))[:, None]
    lost = z / v_n  # time of touch at full speed
    slip = dt * v[1:, :, 0].sum(0) - v_t * lost
    delay = (t * j_t).sum(0) / j_t.sum(0) - (t * j_n).sum(0) / j_n.sum(0)
    return {
        "ratio": (j_t.sum(0) / (MU * j_n.sum(0))).mean(),
        "ratio_min": (j_t.sum(0) / (MU * j_n.sum(0))).min(),
        "ratio_max": (j_t.sum(0) / (MU * j_n.sum(0))).max(),
        "delay_ms": 1e3 * delay.mean(),
        "rebound": (v[-1, :, 1] / v_n).mean(),
        "v_t_end": v[-1, :, 0].mean(),
        "slip_mm": 1e3 * slip.mean(),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    rows = []
    for material, text in MATERIALS.items():
        for v_n, v_t in ((0.3, 5.0), (1.0, 5.0), (3.0, 5.0), (1.0, 0.4)):
            for name, engine in ENGINES.items():
                for dt in (0.01, 0.005, 0.002, 0.001):
                    r = measure(engine, dt, v_n, v_t, text)
                    rows.append({"material": material, "v_n": v_n, "v_t": v_t, "engine": name, "dt": dt} | r)
                    print(f"{material:<12} v_n {v_n} v_t {v_t}  {name:<30} {1e3 * dt:4.0f} ms  ratio {r['ratio']:.3f} "
                          f"[{r['ratio_min']:.3f}, {r['ratio_max']:.3f}]  delay {r['delay_ms']:6.2f} ms  "
                          f"rebound {r['rebound']:.3f}  v_t end {r['v_t_end']:.4f}  slip {r['slip_mm']:.1f} mm", flush=True)  # fmt: skip
    if args.csv:
        with args.csv.open("w", newline="") as f:
            writer = csv.DictWriter(f, rows[0])
            writer.writeheader()
            writer.writerows([{k: round(x, 5) if isinstance(x, float) else x for k, x in r.items()} for r in rows])


if __name__ == "__main__":
    main()
