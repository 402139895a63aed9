"""Records what dm_control's suite observes and rewards in states of its own: tests/data/dm_control_suite.npz.

Run where dm_control is installed, with a MuJoCo that it takes; `test_suite.py` compares with the file.
"""

import sys
from pathlib import Path

import numpy as np
from dm_control import suite

FILE = Path(__file__).parents[2] / "data" / "dm_control_suite.npz"
STATES = 6


def main(ids):
    found = {}
    for task_id in ids:
        env = suite.load(*task_id.removeprefix("dm_control/").split("-"), task_kwargs={"random": 3})
        low, high = env.action_spec().minimum, env.action_spec().maximum
        physics, random = env.physics, np.random.RandomState(1)
        rows = []
        for k in range(STATES):
            env.reset()
            for _ in range(12 * k):
                env.step(random.uniform(low, high))
            physics.set_control(random.uniform(low, high))
            physics.forward()
            named = physics.named
            target = np.zeros(2)
            if "reacher" in task_id:
                target = named.model.geom_pos["target", ["x", "y"]]
            elif "turn" in task_id:
                target = named.model.site_pos["target", ["x", "z"]] - named.data.sensordata["spinner"][[0, 2]]
            seen = env.task.get_observation(physics)
            data = physics.data
            rows.append({
                "qpos": data.qpos, "qvel": data.qvel, "act": data.act, "ctrl": data.ctrl, "target": target,
                "reward": env.task.get_reward(physics), **{f"seen.{name}": np.atleast_1d(x) for name, x in seen.items()},
            })  # fmt: skip
            rows[-1] = {name: np.array(x, float) for name, x in rows[-1].items()}
        found |= {f"{task_id}:{name}": np.stack([row[name] for row in rows]) for name in rows[0]}
        found[f"{task_id}:bounds"] = np.stack([low, high])
        found[f"{task_id}:times"] = np.array([env.control_timestep(), env._step_limit])
    np.savez_compressed(FILE, **found)


if __name__ == "__main__":
    main(sys.argv[1:])
