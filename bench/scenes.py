"""Robots that move in contact: where their files are, how they start, which controls they get."""

import argparse
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import stiction
from stiction.control import control_range, random_controls, start_state

ROOT = Path(__file__).parents[1]
ROBOTS = ROOT / "python/stiction/assets/robots"
# The ant hops off the ground under larger controls.
GYMNASIUM = {"ant": ("ant", 0.01), "halfcheetah": ("half_cheetah", 0.4), "hopper": ("hopper", 0.15),
             "walker2d": ("walker2d", 0.15), "humanoid": ("humanoid", 0.4)}  # fmt: skip
# bits that a Cassie's geoms look for; three dimensions where a file's default has one
FLOOR = '<worldbody><geom name="floor" type="plane" size="0 0 1" contype="7" conaffinity="7" condim="3"/>'
HOLD = 4  # steps between two controls: a control step
MOTIONS = ("smooth", "noise")
LAWS = ("task", "default")  # of stiction and limits: the task's (TaskInfo.engine), or Options()
TASKS = {"ant": "Ant-v5", "halfcheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "walker2d": "Walker2d-v5",
         "humanoid": "Humanoid-v5", "swimmer": "Swimmer-v5", "go2": "Go2Flat", "go2_rough": "Go2Flat", "go2_torsion": "Go2Flat", "g1_feetonly": "Humanoid-v5",
         "g1_mesh_feet": "Humanoid-v5"}  # fmt: skip
GPU_TIMESTEPS = {"humanoid": 0.005}  # s; of the others, the file's


def panda_box() -> str:
    """The Panda of the package with a box between its finger pads. Its gripper stays shut, whatever the control."""
    text = (ROBOTS / "panda.xml").read_text()
    box = '<body name="box" pos="0.5545 0 0.5216"><freejoint/><geom type="box" size="0.02 0.02 0.03" mass="0.05"/></body>'
    text = text.replace("</worldbody>", f"{box}</worldbody>").replace('ctrlrange="0 255"', 'ctrlrange="0 5"')
    text = text.replace('-0.7853 0.04 0.04"', '-0.7853 0.02 0.02 0.5545 0 0.5216 1 0 0 0"')
    return text.replace('-0.7853 255"', '-0.7853 0"')


def clutter(count: int, shapes=("box",)) -> str:
    """Free boxes of several sizes, or other shapes in turn, that fall in layers of four into a tray, which two servos shake."""
    rng = np.random.default_rng(count)
    wall = '<geom type="box" size="{} {} 0.2" pos="{} {} 0.2"/>'
    walls = [wall.format(0.02, 0.3, s * 0.3, 0) + wall.format(0.3, 0.02, 0, s * 0.3) for s in (-1, 1)]
    boxes = [
        f'<body pos="{0.12 - 0.24 * (i % 2)} {0.12 - 0.24 * (i // 2 % 2)} {0.2 + 0.2 * (i // 4)}" euler="0 0 {10 * i}">'
        f'<freejoint/><geom type="{shapes[i % len(shapes)]}" size="{" ".join(f"{x:.3f}" for x in rng.uniform(0.03, 0.08, 3))}"/></body>'
        for i in range(count)
    ]
    return f"""<mujoco><option timestep="0.002" cone="elliptic"/><default><geom density="500"/></default><worldbody>
      <body pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
        <geom type="box" size="0.3 0.3 0.02"/>{"".join(walls)}</body>{"".join(boxes)}</worldbody>
      <actuator><position joint="x" kp="2e4" kv="2e3" ctrlrange="-0.05 0.05"/>
        <position joint="y" kp="2e4" kv="2e3" ctrlrange="-0.05 0.05"/></actuator></mujoco>"""


def rope(links: int) -> str:
    """Links with three hinges each, hanging from motors, without contacts: one tree of 3 links dofs, so A is full."""
    hinges = "".join(f'<joint name="{k}{{0}}" axis="{axis}" damping="0.002"/>'
                     for k, axis in zip("xyz", ("1 0 0", "0 1 0", "0 0 1"), strict=True))  # fmt: skip
    link = f'<body pos="0 0 {{1}}">{hinges}<geom type="capsule" fromto="0 0 0 0 0 -0.05" size="0.01"/>'
    chain = "".join(link.format(i, -0.05 if i else 0) for i in range(links))
    return f"""<mujoco><option timestep="0.002"><flag contact="disable"/></option><worldbody>{chain}{"</body>" * links}</worldbody>
      <actuator><motor joint="x0" gear="0.1" ctrlrange="-1 1"/><motor joint="y0" gear="0.1" ctrlrange="-1 1"/></actuator></mujoco>"""


def go2_rough() -> str:
    """The Go2 of the package on cells of 5 cm, between 3 cm below and above the floor that it had."""
    nodes = 121
    elevation = " ".join(f"{x:.3f}" for x in np.random.default_rng(0).uniform(size=nodes * nodes))
    field = f'<hfield name="ground" nrow="{nodes}" ncol="{nodes}" size="3 3 0.06 0.1" elevation="{elevation}"/>'
    ground = FLOOR.replace('type="plane" size="0 0 1"', 'type="hfield" hfield="ground" pos="0 0 -0.03"')
    text = re.sub(r'<geom[^>]*type="plane"[^>]*/>', "", (ROBOTS / "go2.xml").read_text())
    return text.replace("<worldbody>", f"<asset>{field}</asset>{ground}", 1)


def g1_mesh_feet() -> str:
    """The G1 of the package whose boxes under its feet are meshes: soles as long and wide, round at toe and heel, of 48 vertices."""
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False) + np.pi / 24
    rim = np.column_stack([0.03 * np.cos(angle) + 0.06 * np.sign(np.cos(angle)), 0.03 * np.sin(angle)])
    vertices = " ".join(f"{x:.4f} {y:.4f} {z}" for z in (-0.008, 0.008) for x, y in rim)
    text = (ROBOTS / "g1_feetonly.xml").read_text()
    text = text.replace('size="0.09 0.03 0.008" type="box"', 'type="mesh" mesh="sole"')
    return text.replace("<worldbody>", f'<asset><mesh name="sole" vertex="{vertices}"/></asset><worldbody>', 1)


def hand_with_cube(name: str, at: str, curled: str) -> str:
    """A hand of the package, palm up, its fingers around a cube of 6.5 cm."""
    text = (ROBOTS / f"{name}.xml").read_text()
    cube = f'<body name="cube" pos="{at}"><freejoint/><geom type="box" size="0.0325 0.0325 0.0325" mass="0.1" friction="0.5"/></body>'
    key = f'<keyframe><key qpos="{curled} {at} 1 0 0 0" ctrl="{curled}"/></keyframe>'
    return text.replace("</worldbody>", f"{cube}</worldbody>{key}", 1)


def leap_cube() -> str:
    return hand_with_cube("leap_right", "0 0.03 0.17", " ".join(["0.8 0 0.8 0.8"] * 3 + ["0.8 0.8 0.8 0"]))


def allegro_cube() -> str:
    return hand_with_cube("allegro_right", "0 0 0.06", " ".join(["0 0.9 0.8 0.8"] * 3 + ["1.2 0.3 0.3 0.9"]))


@dataclass
class Scene:
    """`spread`: share of half the control range that targets reach on either side of the centre. `make` writes the text
    of a scene that has no file."""

    name: str
    file: Path | None
    spread: float
    make: Callable[[], str] | None = None
    torsion: bool = False

    def xml(self) -> str:
        """The text, with a floor where it has none; sliding friction only, since torsion and rolling share MuJoCo's
        cone and have laws of their own here, unless `torsion` keeps condim 4 and 6 on both sides."""
        text = self.make() if self.make else self.file.read_text()
        if not self.torsion:
            text = re.sub(r'condim="[46]"', 'condim="3"', text)
        # the keyframe of a robot with torque motors holds joint angles: let servos keep them
        text = re.sub(r'<motor class="\w+"', '<position kp="60" kv="3"', text)
        bare = not re.search('type="(plane|hfield)"', text) and self.name != "cartpole"
        return text.replace("<worldbody>", FLOOR, 1) if bare else text

    def load(self) -> stiction.Model:
        return stiction.Model.from_xml(self.xml(), directory=self.file.parent if self.file else "")


def options(scene: Scene, law="task") -> stiction.Options:
    engines = {info.id: info.engine for info in stiction.Env.tasks()} if law == "task" else {}
    return engines.get(TASKS.get(scene.name), stiction.Options())


SPREADS = {name: spread for name, (_, spread) in GYMNASIUM.items()} | {
    "go2": 0.1, "g1_feetonly": 0.1, "cartpole": 0.3}  # fmt: skip
# By their names alone: loops, a mimic gripper that holds a box, a medium, rough ground, feet of condim 6, hands that hold a
# cube, free boxes in a tray that is shaken (33 of them: 200 degrees of freedom), cylinders and ellipsoids in it, a rope of
# 198, soles that are meshes.
MORE = {"cassie": 0.2, "panda_box": 0.1, "swimmer": 0.4, "go2_rough": 0.1, "go2_torsion": 0.1, "leap_cube": 0.2, "allegro_cube": 0.2,
        "clutter10": 1, "clutter33": 1, "clutter40": 1, "drums8": 1, "rope66": 1, "g1_mesh_feet": 0.1}  # fmt: skip


def scenes(names=None, folder: Path | None = None) -> list[Scene]:
    """Gymnasium's robots where it is installed, and our own; the cart with a pole and MORE only by their names.

    With a folder, the files that `--write` put there. A name that ends in .xml is a file of the user's.
    """
    files = [Scene(Path(name).stem, Path(name).resolve(), 0.1) for name in names or () if name.endswith(".xml")]
    names = names and [name for name in names if not name.endswith(".xml")]
    if files and not names:
        return files
    if folder:
        found = [Scene(name, folder / f"{name}.xml", spread) for name, spread in SPREADS.items()]
    else:
        found = [Scene(name, ROBOTS / f"{name}.xml", SPREADS[name]) for name in ("go2", "g1_feetonly")]
        more = [Scene("cassie", ROBOTS / "cassie.xml", MORE["cassie"]),
                Scene("cartpole", ROOT / "envs/assets/isaac_cartpole.xml", SPREADS["cartpole"]),
                Scene("panda_box", None, MORE["panda_box"], panda_box),
                Scene("go2_rough", None, MORE["go2_rough"], go2_rough),
                Scene("go2_torsion", ROBOTS / "go2.xml", MORE["go2_torsion"], torsion=True),
                Scene("leap_cube", None, MORE["leap_cube"], leap_cube),
                Scene("allegro_cube", None, MORE["allegro_cube"], allegro_cube),
                *(Scene(f"clutter{n}", None, MORE[f"clutter{n}"], partial(clutter, n)) for n in (10, 33, 40)),
                Scene("drums8", None, MORE["drums8"], partial(clutter, 8, ("cylinder", "ellipsoid"))),
                Scene("rope66", None, MORE["rope66"], partial(rope, 66)),
                Scene("g1_mesh_feet", None, MORE["g1_mesh_feet"], g1_mesh_feet)]  # fmt: skip
        if spec := importlib.util.find_spec("gymnasium"):
            assets = Path(spec.origin).parent / "envs/mujoco/assets"
            found = [Scene(name, assets / f"{file}.xml", spread) for name, (file, spread) in GYMNASIUM.items()] + found
            more.append(Scene("swimmer", assets / "swimmer.xml", MORE["swimmer"]))
        found += [scene for scene in more if names and scene.name in names]
    unknown = set(names or ()) - {s.name for s in found}
    if unknown:
        sys.exit(f"unknown model {', '.join(sorted(unknown))}; known: {', '.join(SPREADS | MORE)}")
    return files + [s for s in found if (s.make or s.file.exists()) and (not names or s.name in names)]


def controls(scene: Scene, model, num_envs: int, steps: int, seed=0, motion="smooth") -> np.ndarray:
    """(steps / HOLD, num_envs, nu) random controls.

    smooth: about those of the start, by the scene's spread. noise: white, uniform in the whole control
    range, which is how a policy explores that has learnt nothing.
    """
    low, high = control_range(model)
    if motion == "noise":
        count = -(-steps // HOLD)
        return np.random.default_rng(seed).uniform(low, high, (count, num_envs, model.nu))
    centre = start_state(model)[2] if model.nkey else (low + high) / 2
    rng = np.random.default_rng(seed)
    count, period = -(-steps // HOLD), model.timestep * HOLD
    # every environment its own: copies would keep the lanes of a pack together
    return np.stack([random_controls(model, count, period, rng, centre, scene.spread)
                     for _ in range(num_envs)], axis=1)  # fmt: skip


def run(batch, sequence) -> None:
    """Plays the controls, HOLD steps each."""
    for ctrl in sequence:
        batch.ctrl[:] = ctrl
        batch.step(HOLD)


def started(model, num_envs, **arguments) -> stiction.Batch:
    batch = stiction.Batch(model, num_envs=num_envs, **arguments)
    qpos, qvel, _ = start_state(model)
    batch.reset(qpos=qpos, qvel=qvel)
    return batch


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the robots for a GPU, as files that need no others.")
    parser.add_argument("--write", type=Path, required=True, metavar="DIR")
    folder = parser.parse_args().write
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes(list(SPREADS)):
        text = scene.xml()
        if scene.name in GPU_TIMESTEPS:
            text = re.sub(r'timestep="[^"]*"', f'timestep="{GPU_TIMESTEPS[scene.name]}"', text)
        (folder / f"{scene.name}.xml").write_text(text)


if __name__ == "__main__":
    main()
