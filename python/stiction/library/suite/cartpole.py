"""A cart with a pole."""

import numpy as np

from .base import MODELS, SuiteTask
from .tolerance import tolerance


class Cartpole(SuiteTask):
    model = MODELS / "cartpole.xml"
    swing_up = sparse = False

    def reset(self, ids):
        draw, xp = self.draw(ids), self.xp
        if self.swing_up:
            qpos = 0.01 * draw.normal(2) + xp.asarray(np.array([[0, np.pi]]))
        else:
            qpos = draw.uniform(np.array([-0.1, -0.034]), np.array([0.1, 0.034]), 2)
        return qpos, 0.01 * draw.normal(2)

    def _pole(self):
        angle = self.batch.qpos[:, 1]
        return self.xp.cos(angle), self.xp.sin(angle)

    def seen(self):
        return {"position": self.xp.stack([self.batch.qpos[:, 0], *self._pole()], 1), "velocity": self.batch.qvel}

    def reward(self):
        place, upright = self.batch.qpos[:, 0], self._pole()[0]
        if self.sparse:
            return tolerance(place, -0.25, 0.25) * tolerance(upright, 0.995, 1)
        centred = (1 + tolerance(place, margin=2)) / 2
        slow = (1 + tolerance(self.batch.qvel[:, 1], margin=5)) / 2
        return (upright + 1) / 2 * self.small_control() * slow * centred
