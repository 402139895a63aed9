"""What a wrong call of the command line prints: one line, without a traceback, and nothing is left behind."""

import pytest

import stiction
from stiction.cli import main
from stiction.learning.ppo import Ppo, Settings

OWN = """
import stiction

class Cart(stiction.Task):
    model = "cart.xml"

    def __init__(self, noise=0.1):
        self.noise = noise

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return 1 / self.batch.qpos.shape[2]

class Nan(Cart):
    def reward(self):
        return 0 * self.batch.qpos[:, 0] + float("nan")

class Empty(stiction.Task):
    pass
"""
CART = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 1"><joint name="slide" type="slide"/>
<geom size=".1"/></body></worldbody><actuator><motor joint="slide"/></actuator><keyframe><key name="up" qpos="1"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    (folder / "own.py").write_text(OWN)
    (folder / "cart.xml").write_text(CART)
    (folder / "broken.xml").write_text("<mujoco><worldbody>")
    (folder / "noise.npz").write_text("no policy")
    (folder / "noise.json").write_text("{")
    env = stiction.Env("InvertedPendulum-v5", 2)
    ppo = Ppo(env, Settings(num_envs=2, horizon=8, hidden=(4,)), seed=3,
              task={"id": "InvertedPendulum-v5", "options": {"reset_noise_scale": 0.02}, "engine": {}})  # fmt: skip
    ppo.iterate()
    (folder / "run").mkdir()
    ppo.save(folder / "run/policy.npz")
    return folder


TASK = "InvertedPendulum-v5"
TRAIN = f"train {TASK} --trainer numpy --iterations 1"
GO_ON = TRAIN + " --out run --resume"
ANEW = "leave it out, or begin anew with --overwrite or in another --out"

# arguments -> the line on stderr; usage errors (exit code 2) begin with the name of the command and end in
# " (see ... --help)", which is left out here
CALLS = {
    # names
    "": "the following arguments are required: COMMAND",
    "trian Ant-v5": "no command 'trian'; nearest: 'train'",
    "train": "the following arguments are required: TASK",
    "train Ant-v5 --trainr numpy": "no option --trainr; nearest: '--trainer'",
    "train Ant-v5 Hopper-v5": "'Hopper-v5' is one argument too many",
    "train Ant-v5 --trainer sb3": "--trainer: 'sb3': must be one of rsl_rl, numpy",
    "train ant-v5": "no task 'ant-v5'; nearest: 'Ant-v5'; a class of your own is FILE.py:CLASS",
    "bench Cheetah": "no task 'Cheetah'; nearest: 'HalfCheetah-v5'; a class of your own is FILE.py:CLASS",
    "list-envs Go2": "no task 'Go2'; nearest: 'Go2Flat', 'Go2Rough'; a class of your own is FILE.py:CLASS",
    "train .": "no task '.'; a class of your own is FILE.py:CLASS",
    "train own.py": "own.py: which class of it? give own.py:Cart",
    "train own.py:Crt": "own.py: no class 'Crt' derived from stiction.Task; there are: Cart, Nan, Empty",
    "train nowhere.py:Cart": "no such file: nowhere.py",
    "play --pretrained hopper-v5": "no trained policy for 'hopper-v5'; nearest: 'Hopper-v5'",
    # numbers
    f"{TRAIN} --seed -1": "--seed: -1: must be in [0, 2^32)",
    f"{TRAIN} --seed one": "--seed: one: must be a whole number",
    f"{TRAIN} --seed 4294967295 --seeds 2": "--seed 4294967295 --seeds 2: seeds must be below 4294967296",
    f"{TRAIN} --num-envs 0": "--num-envs: 0: must be > 0 and finite",
    f"{TRAIN} --num-envs 99999999999999": "--num-envs: 99999999999999: must be at most 2147483647",
    f"{TRAIN} --seconds nan": "--seconds: nan: must be > 0 and finite",
    f"{TRAIN} --threads 100000": "threads = 100000: must be in [1, 4096]",
    f"{TRAIN} --gamma 1.5": "--gamma: 1.5: must be in [0, 1]",
    f"{TRAIN} --hidden 64,x": "--hidden: x: must be a whole number",
    f"{TRAIN} --num-envs 1 --horizon 2 --minibatches 4": "settings: 1 environments x 2 steps are fewer than 4 minibatches",
    "bench Ant-v5 --num-envs 1e3": "--num-envs: 1e3: must be a whole number",
    "info cart.xml --num-envs -5": "--num-envs: -5: must be > 0 and finite",
    "rollout cart.xml --dt 0": "--dt: 0: must be > 0 and finite",
    "rollout cart.xml --seed -1 --controls random": "--seed: -1: must be in [0, 2^32)",
    "view cart.xml --video a.mp4 --seconds inf": "--seconds: inf: must be > 0 and finite",
    # options of tasks and of the engine
    f"{TRAIN} --option reset_noise=1": f"{TASK} has no option 'reset_noise'; nearest: 'reset_noise_scale', 'device', 'frame_skip'",
    f"{TRAIN} --option reset_noise_scale=a": f"{TASK}: reset_noise_scale = 'a': must be a number",
    f"{TRAIN} --option noise": "noise: expected NAME=VALUE",
    f"{TRAIN} --option seed=3": "--option seed: no option of a task: give --seed",
    f"{TRAIN} --option max_episode_steps=-3": "--option max_episode_steps=-3: must be a whole number >= 0",
    f"{TRAIN} --engine-option timestp=1": "--engine-option timestp: no option of the engine; nearest: 'timestep'",
    f"{TRAIN} --engine-option timestep=abc": '--engine-option timestep="abc": must be a number',
    f"{TRAIN} --engine-option timestep=-1": "Options.timestep = -1: must be finite and > 0 (s)",
    "train own.py:Cart --trainer numpy --option nois=1": "Cart has no option 'nois'; nearest: 'noise'",
    # own tasks
    "train own.py:Empty --trainer numpy": "Empty.model: not set; a Model, MJCF text or a path",
    "train own.py:Cart --trainer numpy": "own.py:14: IndexError: tuple index out of range",
    "train own.py:Nan --trainer numpy": None,
    # where to write
    f"{TRAIN} --out /dev/null": "--out /dev/null: is not a folder",
    f"{TRAIN} --out cart.xml": "--out cart.xml: is not a folder",
    f"{TRAIN} --out cart.xml/run": "--out cart.xml/run: can't be made: Not a directory",
    f"{TRAIN} --out run": "run/policy.npz exists: give --resume to go on, --overwrite to begin anew, or --out DIR",
    f"{TRAIN} --out elsewhere --resume": "--resume: there is no elsewhere/policy.npz",
    f"{GO_ON} --overwrite": "--overwrite: not allowed with argument --resume",
    f"{GO_ON} --seed 4": f"--resume with --seed 4: the checkpoint goes on with seed 3; {ANEW}",
    f"{GO_ON} --gamma 0.9": f"--resume with --gamma: the checkpoint has its own; {ANEW}",
    f"{GO_ON} --option reset_noise_scale=0.3": f"--resume with --option reset_noise_scale=0.3: the checkpoint has 0.02; {ANEW}",
    f"{GO_ON} --engine-option timestep=0.01": f"--resume with --engine-option timestep=0.01: the checkpoint has its default; {ANEW}",
    "train Hopper-v5 --trainer numpy --out run --resume": f"--resume: run/policy.npz was trained on {TASK}",
    "play run/policy.npz --video film.avi": "--video: film.avi: must end in .mp4",
    "play run/policy.npz --video nowhere/film.mp4": "--video: nowhere/film.mp4: there is no folder nowhere",
    "export run/policy.npz policy.foo": "OUTPUT: policy.foo: must end in .onnx or .ts",
    "export run/policy.npz .": "OUTPUT: .: is a folder, expected a file",
    "rollout cart.xml --output motion.txt": "--output: motion.txt: must end in .npz or .csv",
    # what to read
    "play": "play: give the FILE of a policy, or --pretrained TASK",
    "play run": "FILE: run: is a folder, expected a file",
    "play run/polcy.npz": "FILE: no such file: run/polcy.npz; nearest: 'policy.npz'",
    "play /dev/null": "FILE: /dev/null: is not a file",
    "play noise.npz": "noise.npz: not a policy of stiction ('stiction policy 1' in an .npz file)",
    "play run/policy.npz --task Hopper-v5": "run/policy.npz: takes 4 observations and gives 1 actions, Hopper-v5 has 11 and 3",
    "check-model broken.xml": None,
    "replay noise.json": None,
    "view nowhere.xml": "no such file: nowhere.xml",
    "rollout cart.xml --keyframe down": None,
    "rollout cart.xml --controls down": None,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_prints_one_line_and_leaves_nothing(call, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("stiction.tasks.names._files", {})
    before = sorted(folder.rglob("*"))
    try:
        code = main(call.split())
    except SystemExit as e:
        code = e.code
    err = capsys.readouterr().err
    assert code in (1, 2) and err.count("\n") == 1, err
    line = err.rstrip("\n")
    if code == 2:
        assert line.endswith(" --help)"), line
        line = line.rpartition(" (see ")[0]
        assert line.startswith("stiction")
        line = line.partition(": ")[2]
    else:
        assert line.startswith("stiction: "), line
        line = line.removeprefix("stiction: ")
    if CALLS[call] is not None:
        assert line == CALLS[call]
    left = [p for p in sorted(folder.rglob("*")) if p not in before and "__pycache__" not in p.parts]
    assert not left


def test_there_are_enough_of_them():
    assert len(CALLS) >= 60
