"""Bodies that stand, walk, hop and run."""

import math

import numpy as np

from ..._core import Batch
from .base import MODELS, NUM_STARTS, SuiteTask
from .tolerance import tolerance

FAR = math.inf


def _speed_reward(speed, wanted, margin, value):
    return tolerance(speed, wanted, FAR, margin, "linear", value)


class Cheetah(SuiteTask):
    model = MODELS / "cheetah.xml"

    def starts(self, random):
        model = self.batch.model
        qpos = np.tile(model.qpos0, (NUM_STARTS, 1))
        limited = model.jnt_limited != 0
        qpos[:, limited] = random.uniform(*model.jnt_range[limited].T, (NUM_STARTS, limited.sum()))
        batch = Batch(model, NUM_STARTS)
        batch.reset(qpos=qpos)
        batch.step(200)  # it falls onto its feet
        return np.array(batch.qpos)

    def seen(self):
        return {"position": self.batch.qpos[:, 1:], "velocity": self.batch.qvel}

    def reward(self):
        return _speed_reward(self.reading("torso_subtreelinvel")[:, 0], 10, 10, 0)


class Walker(SuiteTask):
    model = MODELS / "walker.xml"
    frame_skip = 10
    speed = 1.0

    def seen(self):
        axes = [self.axes(name) for name in self.batch.model.body_names[1:]]
        turns = self.xp.stack([x for m in axes for x in (m[:, 0, 0], m[:, 0, 2])], 1)
        return {"orientations": turns, "height": self.position("torso")[:, 2], "velocity": self.batch.qvel}

    def reward(self):
        standing = tolerance(self.position("torso")[:, 2], 1.2, FAR, 0.6)
        standing = (3 * standing + (1 + self.axes("torso")[:, 2, 2]) / 2) / 4
        if not self.speed:
            return standing
        moving = _speed_reward(self.reading("torso_subtreelinvel")[:, 0], self.speed, self.speed / 2, 0.5)
        return standing * (5 * moving + 1) / 6


class Hopper(SuiteTask):
    model = MODELS / "hopper.xml"
    frame_skip = 4
    hopping = True

    def seen(self):
        touch = self.xp.concatenate([self.reading("touch_toe"), self.reading("touch_heel")], 1)
        return {"position": self.batch.qpos[:, 1:], "velocity": self.batch.qvel, "touch": self.xp.log1p(touch)}

    def reward(self):
        standing = tolerance(self.centre("torso")[:, 2] - self.centre("foot")[:, 2], 0.6, 2)
        if not self.hopping:
            return standing * self.small_control()
        return standing * _speed_reward(self.reading("torso_subtreelinvel")[:, 0], 2, 1, 0.5)


class Humanoid(SuiteTask):
    model = MODELS / "humanoid.xml"
    frame_skip = 5
    speed = 1.0

    def starts(self, random):
        candidates = self.random_joints(random.uniform(size=(16 * NUM_STARTS, self.batch.model.njnt)))
        quat = random.uniform(size=(len(candidates), 4))  # dm_control draws these from [0, 1), too
        candidates[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
        return self.free_of_contact(candidates)

    def seen(self):
        xp, axes = self.xp, self.axes("torso")
        limbs = []
        for name in ("left_hand", "left_foot", "right_hand", "right_foot"):
            away = self.position(name) - self.position("torso")
            limbs.append((away[:, :, None] * axes).sum(1))
        return {
            "joint_angles": self.batch.qpos[:, 7:], "head_height": self.position("head")[:, 2],
            "extremities": xp.concatenate(limbs, 1), "torso_vertical": axes[:, 2],
            "com_velocity": self.reading("torso_subtreelinvel"), "velocity": self.batch.qvel,
        }  # fmt: skip

    def reward(self):
        standing = tolerance(self.position("head")[:, 2], 1.4, FAR, 0.35)
        standing = standing * _speed_reward(self.axes("torso")[:, 2, 2], 0.9, 1.9, 0)
        velocity = self.reading("torso_subtreelinvel")[:, :2]
        if not self.speed:
            return self.small_control() * standing * tolerance(velocity, margin=2).mean(1)
        speed = self.xp.sqrt((velocity * velocity).sum(1))
        moving = (5 * _speed_reward(speed, self.speed, self.speed, 0) + 1) / 6
        return self.small_control() * standing * moving


class Quadruped(SuiteTask):
    model = MODELS / "quadruped.xml"
    frame_skip = 4
    speed = 0.5

    def starts(self, random):
        """Turned anyhow, and lifted by centimetres until nothing touches."""
        qpos = np.tile(self.batch.model.qpos0, (NUM_STARTS, 1))
        quat = random.normal(size=(NUM_STARTS, 4))
        qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
        qpos[:, 2] = 0
        for _ in range(300):
            touching = self.overlaps(qpos)
            if not touching.any():
                return qpos
            qpos[touching, 2] += 0.01
        raise RuntimeError(f"{self.id}: {touching.sum()} starts touch at a height of 3 m")

    def setup(self):
        super().setup()
        toes = [f"toe_{end}" for end in ("front_left", "front_right", "back_right", "back_left")]
        self._loads = [f"{kind}_{toe}" for kind in ("force", "torque") for toe in toes]

    def seen(self):
        b, read = self.batch, self.reading
        loads = self.xp.concatenate([read(name) for name in self._loads], 1)
        return {
            "egocentric_state": self.xp.concatenate([b.qpos[:, 7:], b.qvel[:, 6:], b.act], 1),
            "torso_velocity": read("velocimeter"), "torso_upright": self.axes("torso")[:, 2, 2],
            "imu": self.xp.concatenate([read("imu_accel"), read("imu_gyro")], 1),
            "force_torque": self.xp.arcsinh(loads),
        }  # fmt: skip

    def reward(self):
        moving = _speed_reward(self.reading("velocimeter")[:, 0], self.speed, self.speed, 0.5)
        return _speed_reward(self.axes("torso")[:, 2, 2], 1, 2, 0) * moving
