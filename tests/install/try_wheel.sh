#!/bin/sh
# try_wheel.sh ENVIRONMENT: what a stranger does first with a wheel, in a virtual environment that has it and what it needs.
set -eu
environment=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$environment/bin/python" - <<'END'
import sys
import numpy as np
import stiction

assert stiction.__file__.startswith(sys.prefix), stiction.__file__
# from a model that stands in the text to robots that step together
batch = stiction.Batch(stiction.assets.load("go1_feetonly"), num_envs=64)
key = batch.model.key("home")
batch.reset(qpos=batch.model.key_qpos[key])
batch.ctrl[:] = batch.model.key_ctrl[key]
batch.step(100)
assert not batch.frozen.any() and (batch.qpos[:, 2] > 0.2).all()
env = stiction.Env("Ant-v5", 16)
for _ in range(10):
    obs, reward, terminated, truncated = env.step(np.zeros((16, env.num_actions), np.float32))
assert np.isfinite(obs).all()
env = stiction.TaskEnv(stiction.library.G1Flat, 4)
env.step(np.zeros((4, env.num_actions), np.float32))
assert np.isfinite(env.obs).all()
env = stiction.TaskEnv(stiction.library.suite.TASKS["dm_control/finger-spin"], 4)  # its models are in the wheel
env.step(np.zeros((4, env.num_actions), np.float32))
heavy = {"torch", "mujoco", "gymnasium", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
print(f"stiction {stiction.__version__}, {batch.isa}, {batch.threads} threads")
END
"$environment/bin/stiction" doctor
"$environment/bin/stiction" list-envs >envs.txt
grep -q '^Go2Flat ' envs.txt
"$environment/bin/stiction" train InvertedPendulum-v5 --trainer numpy --iterations 3 --no-plot
"$environment/bin/stiction" play runs/InvertedPendulum-v5/policy.npz --episodes 2
"$environment/bin/stiction" bench InvertedPendulum-v5 --num-envs 64 --seconds 0.2
"$environment/bin/python" -m pip check
