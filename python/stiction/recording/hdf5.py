"""HDF5 in robomimic's layout: /data/demo_0/{states, actions, rewards, dones, obs/..., next_obs/...}.

Beside it /rollout/actions has the actions of all environments, step by step, for the replay.
"""

import json

import numpy as np

from .. import __version__
from .._util.extras import remedy
from .._util.files import replacing


def h5py():
    try:
        import h5py
    except ModuleNotFoundError as e:
        if e.name != "h5py":
            raise
        raise ModuleNotFoundError(f"h5py is not installed: {remedy('record')}", name="h5py") from None
    return h5py


def write(path, recorder):
    episodes = recorder.episodes()
    batch = recorder.env.batch
    about = {"env_name": recorder.env.id, "type": "stiction", "env_kwargs": recorder.description}
    with replacing(path) as part, h5py().File(part, "w") as file:
        file.attrs["stiction"] = __version__
        data = file.create_group("data")
        data.attrs["total"] = sum(map(len, episodes))
        data.attrs["env_args"] = json.dumps(about)
        data.attrs["dt"] = recorder.env.dt
        data.attrs["state_sizes"] = [batch.model.nq, batch.model.nv, batch.model.na]
        for k, episode in enumerate(episodes):
            demo = data.create_group(f"demo_{k}")
            demo.attrs["num_samples"] = len(episode)
            for name in ("env", "first_step", "terminated", "truncated"):
                demo.attrs[name] = getattr(episode, name)
            for name in ("states", "actions", "rewards"):
                demo[name] = getattr(episode, name)
            demo["dones"] = episode.dones.astype(np.int64)
            demo["obs/policy"], demo["next_obs/policy"] = episode.obs, episode.next_obs
            if episode.pictures is not None:
                demo.create_dataset("obs/image", data=episode.pictures, compression="gzip", compression_opts=1)
        rollout = file.create_group("rollout")
        rollout["actions"] = recorder.actions()
        rollout.attrs["seed"] = recorder.seed
        rollout.attrs["max_episode_steps"] = recorder.env.max_episode_steps
        rollout.attrs["isa"] = str(batch.isa)
        rollout.attrs["precision"] = str(batch.precision)
