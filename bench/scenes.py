"""Robots that move in contact: where their files are, how they start, which controls they get."""

import argparse
import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import stiction
from stiction.control import control_range, random_controls, start_state

ROOT = Path(__file__).parents[1]
# The ant hops off the ground under larger controls.
GYMNASIUM = {"ant": ("ant", 0.01), "halfcheetah": ("half_cheetah", 0.4), "hopper": ("hopper", 0.15),
             "walker2d": ("walker2d", 0.15), "humanoid": ("humanoid", 0.4)}  # fmt: skip
FLOOR = '<worldbody><geom name="floor" type="plane" size="0 0 1"/>'
HOLD = 4  # steps between two controls: a control step
MOTIONS = ("smooth", "noise")
LAWS = ("task", "default")  # of stiction and limits: the task's (TaskInfo.engine), or Options()
TASKS = {"ant": "Ant-v5", "halfcheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "walker2d": "Walker2d-v5",
         "humanoid": "Humanoid-v5", "go2": "Go2Flat", "g1_feetonly": "Humanoid-v5"}  # fmt: skip
GPU_TIMESTEPS = {"humanoid": 0.005}  # s; of the others, the file's


@dataclass
class Scene:
    """`spread`: share of half the control range that targets reach on either side of the centre."""

    name: str
    file: Path
    spread: float

    def xml(self) -> str:
        """The file, with a floor where it has none; sliding friction only: torsion and rolling share MuJoCo's cone
        and have laws of their own here."""
        text = re.sub(r'condim="[46]"', 'condim="3"', self.file.read_text())
        # the keyframe of a robot with torque motors holds joint angles: let servos keep them
        text = re.sub(r'<motor class="\w+"', '<position kp="60" kv="3"', text)
        bare = 'type="plane"' not in text and self.name != "cartpole"
        return text.replace("<worldbody>", FLOOR, 1) if bare else text

    def load(self) -> stiction.Model:
        return stiction.Model.from_xml(self.xml(), directory=self.file.parent)


def options(scene: Scene, law="task") -> stiction.Options:
    engines = {info.id: info.engine for info in stiction.Env.tasks()} if law == "task" else {}
    return engines.get(TASKS.get(scene.name), stiction.Options())


SPREADS = {name: spread for name, (_, spread) in GYMNASIUM.items()} | {
    "go2": 0.1, "g1_feetonly": 0.1, "cartpole": 0.3}  # fmt: skip


def scenes(names=None, folder: Path | None = None) -> list[Scene]:
    """Gymnasium's robots where it is installed, and our own; the cart with a pole only by its name.

    With a folder, the files that `--write` put there.
    """
    if folder:
        found = [Scene(name, folder / f"{name}.xml", spread) for name, spread in SPREADS.items()]
    else:
        files = {name: ROOT / f"python/stiction/assets/robots/{name}.xml" for name in ("go2", "g1_feetonly")}
        if spec := importlib.util.find_spec("gymnasium"):
            assets = Path(spec.origin).parent / "envs/mujoco/assets"
            files = {name: assets / f"{file}.xml" for name, (file, _) in GYMNASIUM.items()} | files
        if names and "cartpole" in names:
            files["cartpole"] = ROOT / "envs/assets/isaac_cartpole.xml"
        found = [Scene(name, file, SPREADS[name]) for name, file in files.items()]
    unknown = set(names or ()) - {s.name for s in found}
    if unknown:
        sys.exit(f"unknown model {', '.join(sorted(unknown))}; known: {[s.name for s in found]}")
    return [s for s in found if s.file.exists() and (not names or s.name in names)]


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
