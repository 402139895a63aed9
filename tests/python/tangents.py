"""States and their tangents: q ⊕ dq and q ⊖ p in the coordinates of qvel, and differences of a step."""

import numpy as np


FREE, BALL = 0, 1  # of jnt_type, as in MuJoCo


def quat_mul(a, b):
    w, v, s, u = a[0], a[1:], b[0], b[1:]
    return np.concatenate([[w * s - v @ u], w * u + s * v + np.cross(v, u)])


def quat_exp(r):
    half = 0.5 * np.linalg.norm(r)
    return np.concatenate([[np.cos(half)], 0.5 * np.sinc(half / np.pi) * r])


def quat_log(q):
    q = q if q[0] >= 0 else -q
    sine = np.linalg.norm(q[1:])
    return 2 * q[1:] if sine < 1e-9 else 2 * np.arctan2(sine, q[0]) / sine * q[1:]


def _joints(model):
    return zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True)


def _parts(model):
    """(adr, dof, rotation) of each part of qpos."""
    for kind, adr, dof in _joints(model):
        if kind == FREE:
            for k in range(3):
                yield adr + k, dof + k, False
            yield adr + 3, dof + 3, True
        elif kind == BALL:
            yield adr, dof, True
        else:
            yield adr, dof, False


def add(model, q, dq):
    """q ⊕ dq"""
    out = np.array(q, float)
    for adr, dof, rotation in _parts(model):
        if rotation:
            out[adr : adr + 4] = quat_mul(out[adr : adr + 4], quat_exp(dq[dof : dof + 3]))
        else:
            out[adr] += dq[dof]
    return out


def subtract(model, q, p):
    """dq with q = p ⊕ dq"""
    out = np.zeros(model.nv)
    for adr, dof, rotation in _parts(model):
        if rotation:
            inverse = p[adr : adr + 4] * [1, -1, -1, -1]
            out[dof : dof + 3] = quat_log(quat_mul(inverse, q[adr : adr + 4]))
        else:
            out[dof] = q[adr] - p[adr]
    return out


def differences(step, model, qpos, qvel, ctrl, h, h_ctrl):
    """d(q', v')/d(q, v) and /d ctrl of step(qpos, qvel, ctrl) by five points, of fourth order in h and h_ctrl."""
    middle = step(qpos, qvel, ctrl)
    nv = model.nv

    def column(at, h=h):
        def end(x):
            s = at(x)
            return np.concatenate([subtract(model, s.qpos, middle.qpos), s.qvel])

        return (8 * (end(h) - end(-h)) - (end(2 * h) - end(-2 * h))) / (12 * h)

    unit = np.eye(max(nv, model.nu, 1))
    state = [column(lambda x, e=unit[i, :nv]: step(add(model, qpos, x * e), qvel, ctrl)) for i in range(nv)]
    state += [column(lambda x, e=unit[i, :nv]: step(qpos, qvel + x * e, ctrl)) for i in range(nv)]
    to_ctrl = [
        column(lambda x, e=unit[i, : model.nu]: step(qpos, qvel, ctrl + x * e), h_ctrl) for i in range(model.nu)
    ]
    return np.array(state).T, np.array(to_ctrl).reshape(model.nu, 2 * nv).T
