"""Reference motions of a robot: joints and bodies over time, from the files of retargeted motion capture.

    robot = stiction.assets.load("g1")
    motion = stiction.Motion.from_csv(robot, "walk1_subject1.csv", fps=30)   # columns of LAFAN1's retargets for Unitree
    motion.save("walk.npz")                                                    # the arrays of mjlab and BeyondMimic
    stiction train G1Tracking --option motion=walk.npz
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import rotations
from ._core import ArgumentError, Batch, Error, JointType, Model
from ._util.nearest import hint
from ._util.text import visible

__all__ = ["Motion", "names"]

_FOLDER = Path(__file__).parent / "assets" / "motions"
_ARRAYS = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")
_AT_ONCE = 256  # frames whose bodies are computed together


def names() -> list[str]:
    """Names of the motions that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.npz"))


@dataclass(frozen=True, eq=False)
class Motion:
    """T frames of a robot, `fps` in a second, in world axes.

    joint_pos, joint_vel (T, njoint): rad, m and their rates, in the order of joint_names. body_pos, body_quat, body_lin_vel,
    body_ang_vel (T, nbody, 3 or 4): origins of bodies in the order of body_names. qpos, qvel (T, nq), (T, nv): the same as
    states of the model.
    """

    fps: float
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    joint_pos: np.ndarray
    joint_vel: np.ndarray
    body_pos: np.ndarray
    body_quat: np.ndarray
    body_lin_vel: np.ndarray
    body_ang_vel: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray

    _no_memory = True

    def __len__(self):
        return len(self.joint_pos)

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return (len(self) - 1) / self.fps

    # ---- where motions come from

    @classmethod
    def from_poses(cls, model: Model, qpos, fps: float, out_fps: float = 50.0) -> "Motion":
        """A motion of poses (T, nq) of a model, `fps` in a second: resampled to `out_fps`, straight lines between joints and shortest
        rotations between the base's, velocities by central differences, bodies by the model's kinematics."""
        qpos = np.asarray(qpos, float)
        floats = _floats(model)
        if model.nq != model.nv + floats:
            raise ArgumentError("model: has ball joints or further free bodies; a motion is of a robot with hinges and slides")
        if qpos.ndim != 2 or qpos.shape[1] != model.nq or len(qpos) < 3:
            raise ArgumentError(f"qpos: given shape {qpos.shape}; expected (T, {model.nq}), T >= 3")
        for what, value in (("fps", fps), ("out_fps", out_fps)):
            if not (np.isfinite(value) and value > 0):
                raise ArgumentError(f"{what} = {value}: must be > 0")
        if not np.isfinite(qpos).all():
            frame, column = np.argwhere(~np.isfinite(qpos))[0]
            raise ArgumentError(f"qpos: {qpos[frame, column]} in frame {frame}, number {column}")
        quats = qpos[:, 3:7]
        if floats and (np.abs(np.linalg.norm(quats, axis=1) - 1) > 1e-2).any():
            frame = int(np.argmax(np.abs(np.linalg.norm(quats, axis=1) - 1)))
            raise ArgumentError(f"qpos: the quaternion of frame {frame} has length {np.linalg.norm(quats[frame]):.3g}")
        qpos = _resampled(qpos, floats, fps, out_fps)
        return cls._of(model, qpos, _velocities(qpos, floats, out_fps), out_fps)

    @classmethod
    def _of(cls, model, qpos, qvel, fps):
        simple = _joints(model)
        body = {name: np.zeros((len(qpos), model.nbody - 1, size)) for name, size in (
            ("xpos", 3), ("xquat", 4), ("linear", 3), ("angular", 3))}  # fmt: skip
        batch = Batch(model, min(_AT_ONCE, len(qpos)))
        for first in range(0, len(qpos), _AT_ONCE):
            rows = slice(first, min(first + _AT_ONCE, len(qpos)))
            ids = np.arange(rows.stop - rows.start)
            batch.reset(ids, qpos=qpos[rows], qvel=qvel[rows])
            body["xpos"][rows], body["xquat"][rows] = batch.xpos[ids, 1:], batch.xquat[ids, 1:]
            body["angular"][rows], body["linear"][rows] = batch.xvel[ids, 1:, :3], batch.xvel[ids, 1:, 3:]
        arrays = (qpos[:, model.jnt_qposadr[simple]], qvel[:, model.jnt_dofadr[simple]], body["xpos"], body["xquat"],
                  body["linear"], body["angular"], qpos, qvel)  # fmt: skip
        for x in arrays:
            x.setflags(write=False)
        return cls(float(fps), tuple(model.jnt_names[j] for j in simple), tuple(model.body_names[1:]), *arrays)

    @classmethod
    def from_csv(cls, model: Model, path, fps: float = 30.0, out_fps: float = 50.0, *, frames=None, columns=None,
                 quaternion: str = "xyzw") -> "Motion":  # fmt: skip
        """A motion from a file with a line for each frame: position of the base, its quaternion, then joints, as in LAFAN1's retargets for
        Unitree's robots. frames: (first, last), of lines. columns: names of the joints in the file's order; None: the header's,
        else the model's order. quaternion: "xyzw" or "wxyz". Lines that begin with # are left out."""
        if quaternion not in ("xyzw", "wxyz"):
            raise ArgumentError(f"quaternion = {quaternion!r}: must be 'xyzw' or 'wxyz'")
        if not _floats(model):
            raise ArgumentError("model: its first joint is not free; from_poses takes the poses of any model")
        header, data = _read_csv(path)
        simple = [model.jnt_names[j] for j in _joints(model)]
        columns = list(columns if columns is not None else (header[7:] if header else simple))
        if data.shape[1] != 7 + len(columns):
            raise ArgumentError(f"{visible(path)}: {data.shape[1]} columns; expected 7 of the base and {len(columns)} joints")
        if frames is not None:
            first, last = frames
            if not 0 <= first < last < len(data):
                raise ArgumentError(f"frames = {frames}: must be (first, last), 0 <= first < last < {len(data)}")
            data = data[first : last + 1]
        qpos = np.tile(model.qpos0, (len(data), 1)).astype(float)
        qpos[:, :3] = data[:, :3]
        qpos[:, 3:7] = data[:, [6, 3, 4, 5]] if quaternion == "xyzw" else data[:, 3:7]
        for k, name in enumerate(columns):
            if name not in simple:
                raise ArgumentError(f"{visible(path)}: the model has no joint {name!r}{hint(name, simple)}")
            qpos[:, model.jnt_qposadr[model.jnt_names.index(name)]] = data[:, 7 + k]
        return cls.from_poses(model, qpos, fps, out_fps)

    @classmethod
    def load(cls, model: Model, path) -> "Motion":
        """A motion from a file *.npz: arrays of `save` or of mjlab's csv_to_npz, or `qpos` and `fps`; or a motion of the package by its
        name (`stiction.motions.names()`). Velocities and bodies are computed anew from the model and the poses."""
        path = _FOLDER / f"{path}.npz" if str(path) in names() else path
        if not os.path.exists(path):
            raise ArgumentError(f"no motion {visible(path)}: neither a file nor one of {', '.join(names())}")
        try:
            with np.load(path, allow_pickle=False) as file:
                data = {name: file[name] for name in file.files}
        except (ValueError, OSError, EOFError, KeyError) as e:
            raise Error(f"{visible(path)}: no file of NumPy's: {visible(e)}") from None
        if "fps" not in data:
            raise Error(f"{visible(path)}: has no fps; there are {', '.join(data)}")
        fps = float(np.ravel(data["fps"])[0])
        if "qpos" in data:
            return cls.from_poses(model, data["qpos"], fps, fps)
        missing = [name for name in _ARRAYS if name not in data]
        if missing:
            raise Error(f"{visible(path)}: has no {missing[0]}; there are {', '.join(data)}")
        return cls.from_poses(model, _poses(model, data, path), fps, fps)

    def save(self, path):
        """As *.npz: mjlab's arrays, with the names of joints and bodies, readable by `load`."""
        arrays = (self.joint_pos, self.joint_vel, self.body_pos, self.body_quat, self.body_lin_vel, self.body_ang_vel)
        data = {name: x.astype(np.float32) for name, x in zip(_ARRAYS, arrays)}
        data |= {"fps": np.array([self.fps]), "joint_names": np.array(self.joint_names), "body_names": np.array(self.body_names)}
        from ._util.files import write_atomically

        write_atomically(path, lambda file: np.savez_compressed(file, **data))


def _floats(model) -> bool:
    return model.njnt > 0 and model.jnt_type[0] == JointType.free


def _joints(model):
    return np.flatnonzero((model.jnt_type == JointType.hinge) | (model.jnt_type == JointType.slide))


def _poses(model, data, path):
    """(T, nq) of mjlab's arrays; without names the order is the model's."""
    simple = [model.jnt_names[j] for j in _joints(model)]
    joints = [str(n) for n in data["joint_names"]] if "joint_names" in data else simple
    bodies = [str(n) for n in data["body_names"]] if "body_names" in data else list(model.body_names[1:])
    q = data["joint_pos"]
    if q.ndim != 2 or q.shape[1] != len(joints) or set(joints) != set(simple):
        raise Error(f"{visible(path)}: joint_pos: {q.shape} is not of the model's {len(simple)} joints")
    qpos = np.tile(model.qpos0, (len(q), 1)).astype(float)
    for k, name in enumerate(joints):
        qpos[:, model.jnt_qposadr[model.jnt_names.index(name)]] = q[:, k]
    if _floats(model):
        base = model.body_names[model.jnt_bodyid[0]]
        if base not in bodies or data["body_pos_w"].shape[1:] != (len(bodies), 3):
            raise Error(f"{visible(path)}: body_pos_w: {data['body_pos_w'].shape}: there is no {base!r} in it")
        k = bodies.index(base)
        qpos[:, :3], qpos[:, 3:7] = data["body_pos_w"][:, k], data["body_quat_w"][:, k]
    return qpos


def _read_csv(path):
    """(names of the columns or None, numbers)."""
    rows, header = [], None
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.strip().split(",")]
            if line.startswith("#") or cells == [""]:
                continue
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError:
                if header is not None or rows:
                    raise ArgumentError(f"{visible(path)}:{number}: {visible(line.strip()):.60}: expected numbers") from None
                header = cells
                continue
            if len(rows[-1]) != len(rows[0]):
                raise ArgumentError(f"{visible(path)}:{number}: {len(rows[-1])} columns; the lines before have {len(rows[0])}")
    if len(rows) < 3 or len(rows[0]) < 7:
        raise ArgumentError(f"{visible(path)}: {len(rows)} lines of numbers; at least 3 with 7 or more columns are needed")
    return header, np.array(rows)


def _resampled(qpos, floats, fps, out_fps):
    last = (len(qpos) - 1) / fps
    count = int(np.floor(last * out_fps + 1e-9)) + 1
    if count < 3:
        raise ArgumentError(f"a motion of {last:.3g} s has {count} frames at {out_fps:g} per second; at least 3 are needed")
    place = np.arange(count) * (fps / out_fps)
    before = np.minimum(np.floor(place + 1e-9).astype(int), len(qpos) - 2)
    share = np.clip(place - before, 0, 1)
    out = qpos[before] * (1 - share[:, None]) + qpos[before + 1] * share[:, None]
    if floats:
        q = rotations.normalize(qpos[:, 3:7])
        out[:, 3:7] = rotations.normalize(rotations.slerp(q[before], q[before + 1], share))
    return out


def _velocities(qpos, floats, fps):
    """(T, nv) by central differences, one-sided at both ends; a free joint turns about the body's axes."""
    if not floats:
        return np.gradient(qpos, 1 / fps, axis=0)
    qvel = np.zeros((len(qpos), qpos.shape[1] - 1))
    qvel[:, :3] = np.gradient(qpos[:, :3], 1 / fps, axis=0)
    qvel[:, 6:] = np.gradient(qpos[:, 7:], 1 / fps, axis=0)
    q, k = qpos[:, 3:7], np.arange(len(qpos))
    ahead, behind = np.minimum(k + 1, len(q) - 1), np.maximum(k - 1, 0)
    omega = rotations.difference(q[ahead], q[behind]) * (fps / (ahead - behind))[:, None]
    qvel[:, 3:6] = rotations.rotate_back(q, omega)
    return qvel
