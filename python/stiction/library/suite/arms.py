"""What reaches, turns and catches."""

import numpy as np

from .base import MODELS, NUM_STARTS, SuiteTask
from .tolerance import tolerance


class _Finger(SuiteTask):
    model = MODELS / "finger.xml"
    frame_skip = 2

    def starts(self, random):
        return self.free_of_contact(self.random_joints(random.uniform(size=(4 * NUM_STARTS, self.batch.model.njnt))))

    def _tip(self):
        return (self.reading("tip") - self.reading("spinner"))[:, ::2]

    def seen(self):
        join, read = self.xp.concatenate, self.reading
        return {
            "position": join([read("proximal"), read("distal"), self._tip()], 1),
            "velocity": join([read(f"{name}_velocity") for name in ("proximal", "distal", "hinge")], 1),
            "touch": self.xp.log1p(join([read("touchtop"), read("touchbottom")], 1)),
        }


class FingerSpin(_Finger):
    # dm_control gives the hinge less damping for this task
    model = _Finger.model.read_text().replace('damping="0.5"', 'damping="0.03"')

    def reward(self):
        return self.xp.astype(self.reading("hinge_velocity")[:, 0] <= -15, self.xp.float32)


class FingerTurn(_Finger):
    radius = 0.07

    def setup(self):
        super().setup()
        model = self.batch.model
        self._reach = float(model.geom_size[model.geom("cap1")].sum())
        self._target = self.xp.zeros((self.num_envs, 2), dtype=self.xp.float64)

    def reset(self, ids):
        state = super().reset(ids)
        angle = self.draw(ids).uniform(-np.pi, np.pi, 2)[:, 1]  # the first word chose the start
        self._target[ids] = self._reach * self.xp.stack([self.xp.sin(angle), self.xp.cos(angle)], 1)
        return state

    def _distance(self):
        away = self._target - self._tip()
        return self.xp.sqrt((away * away).sum(1)) - self.radius

    def seen(self):
        return super().seen() | {"target_position": self._target, "dist_to_target": self._distance()}

    def reward(self):
        return self.xp.astype(self._distance() <= 0, self.xp.float32)


class BallInCup(SuiteTask):
    model = MODELS / "ball_in_cup.xml"
    frame_skip = 10

    def starts(self, random):
        candidates = np.tile(self.batch.model.qpos0, (4 * NUM_STARTS, 1))
        candidates[:, 2] = random.uniform(-0.2, 0.2, len(candidates))
        candidates[:, 3] = random.uniform(0.2, 0.5, len(candidates))
        return self.free_of_contact(candidates)

    def seen(self):
        return {"position": self.batch.qpos, "velocity": self.batch.qvel}

    def reward(self):
        """1 where all of the ball is in the cup: its zone is a box of 5 cm, the ball's radius 2.5 cm."""
        away = abs(self.position("ball") - self.position("cup") + self.xp.asarray(np.array([0, 0, 0.05])))
        return self.xp.astype((away[:, 0] < 0.025) & (away[:, 2] < 0.025), self.xp.float32)


class Reacher(SuiteTask):
    model = MODELS / "reacher.xml"
    radius = 0.05

    def setup(self):
        super().setup()
        self._target = self.xp.zeros((self.num_envs, 2), dtype=self.xp.float64)

    def reset(self, ids):
        state = super().reset(ids)
        numbers = self.draw(ids).uniform(0, 1, self.batch.model.njnt + 2)[:, -2:]
        angle, reach = 2 * np.pi * numbers[:, 0], 0.05 + 0.15 * numbers[:, 1]
        self._target[ids] = reach[:, None] * self.xp.stack([self.xp.sin(angle), self.xp.cos(angle)], 1)
        return state

    def _away(self):
        return self._target - self.position("finger")[:, :2]

    def seen(self):
        return {"position": self.batch.qpos, "to_target": self._away(), "velocity": self.batch.qvel}

    def reward(self):
        away = self._away()
        return tolerance(self.xp.sqrt((away * away).sum(1)), 0, self.radius + 0.01)
