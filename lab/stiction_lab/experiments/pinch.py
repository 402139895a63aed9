"""A capsule that two pads pinch with many times what its weight needs (google-deepmind/mujoco, 3328): creep of each law and engine beside its
speed."""

import time
from dataclasses import dataclass, field

import numpy as np

import stiction

from .. import mujoco_solver
from ..experiment import COLOURS, Experiment, Result, axes, legends
from ..scenes import GRAVITY

MASS, MU, DT = 0.045, 0.7, 2e-3
WEIGHT = MASS * GRAVITY
SETTLE, WATCH = 0.5, 2.0  # s
GOAL = 2.5e-3  # m: 2 mm beyond the touch
MUJOCO = "mujoco"
SHARP = "Lagged, v_s = 1e-5 m/s, σ = 1e-4"
LEAST = 1e-5  # µm/s, for the logarithmic axis


GRIPS = (("soft", 6e3, ""), ("stiff", 6e4, 'solref=".004 1"'))  # kp in N/m, material of all geoms


def xml(kp, material="", option=""):
    pads = "".join(f'<body pos="{x} 0 0"><joint name="{name}" type="slide" axis="1 0 0" damping="100"/>'
                   f'<geom type="box" size=".008 .03 .02" mass=".2" friction="{MU} .005 .0001" {material}/></body>'
                   for name, x in (("left", -0.0125), ("right", 0.0125)))
    return (f'<mujoco><option timestep="{DT}" gravity="0 0 -{GRAVITY}" {option}/><worldbody>{pads}'
            f'<body pos="0 0 0"><freejoint/><geom type="capsule" fromto="0 -.02 0 0 .02 0" size=".004" mass="{MASS}" '
            f'friction="{MU} .005 .0001" {material}/></body></worldbody><actuator><position joint="left" kp="{kp}"/>'
            f'<position joint="right" kp="{kp}"/></actuator></mujoco>')


@dataclass(frozen=True)
class Law:
    """options: of stiction, or attributes of MJCF's <option>."""

    name: str
    engine: str
    options: dict = field(default_factory=dict)


LAWS = (
    Law("Lagged", "lagged", {"friction_iterations": 1}),
    Law(SHARP, "lagged", {"friction_iterations": 1, "stiction_tolerance": 1e-5, "regularization": 1e-4}),
    Law("Lagged, auto", "lagged", {"friction_iterations": "auto"}),
    Law("Similar", "similar"),
    Law("SAP", "sap"),
    Law("anchored", "lagged", {"stiction": "anchored", "friction_iterations": 1}),
    Law("anchored, auto", "lagged", {"stiction": "anchored", "friction_iterations": "auto"}),
    Law("elliptic, impratio 1", MUJOCO, {"cone": "elliptic", "impratio": 1}),
    Law("elliptic, impratio 10", MUJOCO, {"cone": "elliptic", "impratio": 10}),
    Law("elliptic, impratio 100", MUJOCO, {"cone": "elliptic", "impratio": 100}),
    Law("elliptic, impratio 10, noslip 10", MUJOCO, {"cone": "elliptic", "impratio": 10, "noslip_iterations": 10}),
    Law("pyramidal", MUJOCO, {"cone": "pyramidal"}),
)


class Ours:
    def __init__(self, law, kp, material, count=1, precision="float64"):
        model = stiction.Model.from_xml(xml(kp, material))
        self.kp, self.count = kp, count
        self.batch = stiction.Batch(model, count, precision=precision, threads=1,
                                    options=stiction.Options(timestep=DT, contact_model=law.engine, **law.options))
        self.batch.ctrl[:] = GOAL, -GOAL

    def step(self, n):
        self.batch.step(n)

    @property
    def height(self):
        return float(self.batch.qpos[0, 4])

    @property
    def grip(self):
        return self.kp * (GOAL - float(self.batch.qpos[0, 0]))


class Theirs:
    def __init__(self, law, kp, material):
        import mujoco

        options = " ".join(f'{k}="{v}"' for k, v in law.options.items())
        self.m = mujoco.MjModel.from_xml_string(xml(kp, material, options))
        self.d, self.steps = mujoco.MjData(self.m), mujoco.mj_step
        self.kp, self.count = kp, 1
        self.d.ctrl[:] = GOAL, -GOAL

    def step(self, n):
        self.steps(self.m, self.d, n)

    @property
    def height(self):
        return float(self.d.qpos[4])

    @property
    def grip(self):
        return self.kp * (GOAL - float(self.d.qpos[0]))


def engine(law, kp, material, **more):
    return Theirs(law, kp, material) if law.engine == MUJOCO else Ours(law, kp, material, **more)


def creep(law, kp, material):
    """(heights every 0.05 s after the settling, grip in N)."""
    run, heights = engine(law, kp, material), []
    run.step(round(SETTLE / DT))
    for _ in range(round(WATCH / 0.05)):
        heights.append(run.height)
        run.step(round(0.05 / DT))
    return np.array([*heights, run.height]), run.grip


def speeds(laws, rounds):
    """Steps of one capsule per second of the processor, one core: the median of rounds in turns. (alone in double precision, among 64
    in single precision); MuJoCo has the first."""
    kinds = ({}, {"count": 64, "precision": "float32"})
    runs = {(law.name, k): engine(law, *GRIPS[0][1:], **more) for law in laws for k, more in enumerate(kinds)
            if k == 0 or law.engine != MUJOCO}
    rates = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            n = max(100, 2000 // run.count)
            begin = time.process_time()
            run.step(n)
            rates[key].append(n * run.count / (time.process_time() - begin))
    return {key: float(np.median(x[1:])) for key, x in rates.items()}


def run(full):
    r = Result("A capsule that is held with 14 to 280 times the friction of its weight creeps through every regularized grip; anchors "
               "hold it, at the same speed.")
    laws = [law for law in LAWS if law.engine != MUJOCO or mujoco_solver.available()]
    held = {(law.name, grip): creep(law, kp, material) for law in laws for grip, kp, material in GRIPS}
    rates = speeds(laws, 15 if full else 4)
    late = {}
    for law in laws:
        ours, told = law.engine != MUJOCO, []
        for grip, _, _ in GRIPS:
            heights, force = held[law.name, grip]
            n, margin = len(heights) // 2, 2 * MU * force / WEIGHT
            late[law.name, grip] = v = (heights[n] - heights[-1]) / (0.5 * WATCH)
            told.append(f"{f'{1e6 * v:.3g}' if abs(v) > 1e-12 else 'less than 1e-6'} µm/s at {force:.1f} N, {margin:.0f} times")
            r.gate(f"{law.name}, {grip}: margin, 2 μ N over the weight", margin, low=13)
            if law.options.get("stiction") == "anchored":
                r.gate(f"{law.name}, {grip}: creep in the last second, m/s", abs(v), high=1e-12)
                r.gate(f"{law.name}, {grip}: way in all, m", abs(heights[0] - heights[-1]), high=1e-9)
            elif "noslip_iterations" not in law.options:
                r.gate(f"{law.name}, {grip}: creep in the last second, m/s", v, low=5e-7, control=True)
        speed = f"{1e-3 * rates[law.name, 0]:.0f} thousand steps/s" + (f", {1e-3 * rates[law.name, 1]:.0f} among 64" if ours else "")
        text = "; ".join((*told, speed))
        r.row(law.name if ours else f"MuJoCo, {law.name}", text if ours else "", "" if ours else text)
    for grip, _, _ in GRIPS:
        r.near(f"{grip}: creep of Lagged over that with a tenth of v_s and σ", late["Lagged", grip] / late[SHARP, grip], 10, relative=0.01)
        if mujoco_solver.available():
            r.near(f"{grip}: MuJoCo's creep at impratio 1 over 10", late["elliptic, impratio 1", grip] / late["elliptic, impratio 10", grip], 10,
                   relative=0.02)
    # by processor time of this run, in turns; others on the machine move it by tens of percent
    r.gate("speed of anchored over Lagged among 64", rates["anchored", 1] / rates["Lagged", 1], low=0.5)
    figure, (a,) = axes(1, height=3.4)
    for law in laws:
        kind = 1 if law.engine != MUJOCO else 0
        v = max(1e-6 * LEAST, *(abs(late[law.name, grip]) for grip, _, _ in GRIPS))
        a.loglog(rates[law.name, kind], 1e6 * v, "o" if kind else "s", color=COLOURS[law.engine], label=law.name, ms=4 + len(law.name) % 5)
    a.set(xlabel="steps per second of one core", ylabel=f"creep [µm/s], {LEAST:g} stands for less")
    legends(a, fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    r.figures.append((figure, f"Capsule of {1e3 * MASS:g} g and 4 mm between two pads, μ = {MU}, δt = {1e3 * DT:g} ms, goal of the pads 2 mm beyond the "
                              "touch; the faster creep of two grips (kp 6e3 N/m with default contacts, 6e4 N/m with solref 4 ms). Circles: stiction, 64 "
                              "environments in float32; squares: MuJoCo, alone."))
    return r


EXPERIMENT = Experiment("pinch", "A pinched capsule", "google-deepmind/mujoco, 3328", run)
