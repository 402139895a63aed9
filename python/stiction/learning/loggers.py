"""Where the numbers of every iteration go besides progress.csv: TensorBoard, Weights & Biases."""

import importlib.util
import json
import math
from .._core import Error
from .._util.extras import remedy
from .._util.text import visible
from .curve import numbers_of

# what --logger takes -> the extra that has its library
LOGGERS = {"tensorboard": "train", "wandb": "log"}
_GROUPS = {"episode_return": "episode/return", "episode_length": "episode/length"}


def require(names):
    """Raises Error where the library of a logger is not installed."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise Error(f"--logger {name}: {name} is not installed: {remedy(LOGGERS[name])}")


def scalars(row: dict) -> dict:
    """Tags and numbers of an iteration; what is not known yet is left out."""
    skipped = ("number", "steps")
    tag = lambda name: name if "/" in name else _GROUPS.get(name, f"train/{name}")
    found = {tag(k): float(v) for k, v in row.items() if k not in skipped}
    return {tag: x for tag, x in found.items() if math.isfinite(x)}


class TensorBoard:
    """An event file in the run's folder: `tensorboard --logdir DIR`."""

    def __init__(self, folder, description):
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._summary = Event, Summary
        self._writer = EventFileWriter(str(folder))

    def add(self, steps: int, values: dict):
        import time

        parts = [self._summary.Value(tag=tag, simple_value=x) for tag, x in values.items()]
        self._writer.add_event(
            self._event(wall_time=time.time(), step=steps, summary=self._summary(value=parts))
        )
        self._writer.flush()

    def close(self):
        self._writer.close()


class Wandb:
    """A run of the project "stiction", or of WANDB_PROJECT; the library's environment variables count."""

    def __init__(self, folder, description):
        import os

        import wandb

        name = f"{description['task']['id']}, seed {description['seed']}"
        try:
            self._run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", "stiction"), name=name, config=description,
                dir=str(folder),
            )  # fmt: skip
        except wandb.errors.Error as e:
            raise Error(f"--logger wandb: {visible(str(e).splitlines()[0])}") from None

    def add(self, steps: int, values: dict):
        self._run.log(values, step=steps)

    def close(self):
        self._run.finish()


_KINDS = {"tensorboard": TensorBoard, "wandb": Wandb}


class Loggers:
    """All that were asked for; a context that closes them."""

    def __init__(self, names, folder, description):
        require(names)
        plain = json.loads(json.dumps(description, default=str))
        self._all = [_KINDS[name](folder, plain) for name in dict.fromkeys(names)]

    def add(self, iteration):
        row = numbers_of(iteration)
        for logger in self._all:
            logger.add(int(row["steps"]), scalars(row))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for logger in self._all:
            logger.close()
