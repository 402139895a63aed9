"""Rollouts as files: HDF5 as robomimic has it, LeRobot's data sets, and replay.

recorder = stiction.recording.Recorder(stiction.Env("Ant-v5", 16), seed=1)
for _ in range(1000):
    recorder.step(policy(recorder.obs))
recorder.save_hdf5("ant.h5")                      # h5py
recorder.save_lerobot("ant", task="walk ahead")   # pyarrow
stiction.recording.replay("ant.h5").check()       # the same states again
"""

from .recorder import Episode, Recorder
from .replay import Replay, replay

__all__ = ["Episode", "Recorder", "Replay", "replay"]
