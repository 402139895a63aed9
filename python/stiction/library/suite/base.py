"""What the tasks of dm_control's suite have in common."""

from pathlib import Path

import numpy as np

from ... import rotations
from ..._core import Batch, JointType
from ...tasks.task import Task
from .tolerance import tolerance

MODELS = Path(__file__).parent / "models"
NUM_STARTS = 256


class SuiteTask(Task):
    """Names and readings of the model, and dm_control's random joints.

    Where dm_control looks for a start that touches nothing, or lets the body settle, this is done once for
    NUM_STARTS starts, and an episode begins at one of them.
    """

    max_episode_steps = 1000

    def setup(self):
        model = self.batch.model
        self._body = {name: k for k, name in enumerate(model.body_names)}
        self._sensor = {
            name: slice(int(adr), int(adr + dim))
            for name, adr, dim in zip(model.sensor_names, model.sensor_adr, model.sensor_dim)
        }
        starts = self.starts(np.random.default_rng(0))
        self._starts = None if starts is None else self.xp.asarray(starts)

    def starts(self, random):
        """(NUM_STARTS, nq) positions of which each episode begins with one; None: `reset` draws them."""

    def reset(self, ids):
        draw = self.draw(ids)
        if self._starts is None:
            return self.random_joints(draw.uniform(0, 1, count=self.batch.model.njnt)), None
        return self._starts[draw.integer(0, NUM_STARTS)[:, 0]], None

    def random_joints(self, share):
        """(n, nq): hinges and slides with limits anywhere between them, other hinges anywhere, the rest as it is.

        share: (n, njnt) numbers between 0 and 1."""
        model, xp = self.batch.model, self.xp
        columns = list(xp.asarray(np.tile(model.qpos0, (len(share), 1))).T)
        for j in range(model.njnt):
            low, high = model.jnt_range[j]
            if not model.jnt_limited[j]:
                low, high = -np.pi, np.pi
                if model.jnt_type[j] != JointType.hinge:
                    continue
            columns[int(model.jnt_qposadr[j])] = low + (high - low) * share[:, j]
        return xp.stack(columns, 1)

    def free_of_contact(self, candidates):
        """NUM_STARTS of the candidates (n, nq) in which nothing overlaps."""
        found = candidates[~self.overlaps(candidates)][:NUM_STARTS]
        if len(found) < NUM_STARTS:
            raise RuntimeError(f"{self.id}: {len(found)} starts without contact of {len(candidates)}")
        return found

    def overlaps(self, qpos):
        """(n,) bool: where geoms overlap."""
        batch = Batch(self.batch.model, len(qpos), precision="float64")
        batch.reset(qpos=qpos)
        contacts = batch.contacts()
        touches = np.zeros(len(qpos), bool)
        touches[contacts.env[contacts.gap < 0]] = True
        return touches

    # ---- readings

    def reading(self, name):
        return self.batch.sensordata[:, self._sensor[name]]

    def position(self, body):
        return self.batch.xpos[:, self._body[body]]

    def axes(self, body):
        """(n, 3, 3): columns are the body's axes."""
        return rotations.to_matrix(self.batch.xquat[:, self._body[body]])

    def centre(self, body):
        """(n, 3): centre of mass."""
        k = self._body[body]
        ipos = self.xp.asarray(self.batch.model.body_ipos[k])
        return self.batch.xpos[:, k] + rotations.rotate(self.batch.xquat[:, k], ipos[None])

    def small_control(self):
        """(n,): 1 without controls, 0.8 with full ones."""
        return (4 + tolerance(self.batch.ctrl, margin=1, value_at_margin=0, sigmoid="quadratic").mean(1)) / 5

    def observe(self):
        parts = [x if x.ndim == 2 else x[:, None] for x in self.seen().values()]
        return self.xp.concatenate(parts, 1)

    def seen(self):
        """dict of (n,) or (n, k): dm_control's observations, in its order."""
        raise NotImplementedError
