"""Rotations of many things at once, in NumPy and in torch: quaternions, rotation vectors, matrices, headings.

A quaternion is w x y z in the last axis, as everywhere here, of length 1 unless a function says otherwise; q and -q
are the same rotation. R(q) turns a vector of the body's axes into those of the world, as `batch.xquat` does:

    v_world = rotate(q, v_body)        v_body = rotate_back(q, v_world)        R(multiply(p, q)) = R(p) R(q)

Axes before the last one broadcast, so one quaternion (4,) turns many vectors (n, 3). What comes out has the library
of the arguments, their device, and float64 or float32 as they have. Angles are radians.
"""

from .arrays import namespace_of

__all__ = [
    "angle_between", "conjugate", "difference", "exp", "from_axis_angle", "from_euler", "from_matrix", "from_yaw",
    "heading", "integrate", "log", "multiply", "normalize", "rotate", "rotate_back", "six_numbers", "slerp",
    "to_euler", "to_matrix", "wrap_angle", "yaw",
]  # fmt: skip


def _parts(x):
    return tuple(x[..., k] for k in range(x.shape[-1]))


def _stack(xp, parts):
    return xp.stack(xp.broadcast_arrays(*parts) if hasattr(xp, "broadcast_arrays") else
                    xp.broadcast_tensors(*parts), -1)  # fmt: skip


def _cross(xp, a, b):
    ax, ay, az = _parts(a)
    bx, by, bz = _parts(b)
    return _stack(xp, (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def _norm(xp, x):
    """(..., 1)"""
    return xp.sqrt((x * x).sum(-1))[..., None]


def normalize(q):
    """The unit quaternion of the same direction; 1 0 0 0 of one without length."""
    xp = namespace_of(q)
    length = _norm(xp, q)
    one = xp.zeros_like(q)
    one[..., 0] = 1
    return xp.where(length > 0, q / xp.where(length > 0, length, 1), one)


def conjugate(q):
    """The inverse rotation: w -x -y -z."""
    xp = namespace_of(q)
    w, x, y, z = _parts(q)
    return xp.stack((w, -x, -y, -z), -1)


def multiply(p, q):
    """p q: first q, then p, both about axes of the world."""
    a, b, c, d = _parts(p)
    w, x, y, z = _parts(q)
    return _stack(namespace_of(p), (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ))  # fmt: skip


def rotate(q, v):
    """R(q) v by v + 2 u × (u × v + w v), u the vector part of q."""
    xp = namespace_of(q)
    w, u = q[..., :1], q[..., 1:]
    return v + 2 * _cross(xp, u, _cross(xp, u, v) + w * v)


def rotate_back(q, v):
    """R(q)ᵀ v: a vector of the world in the body's axes."""
    xp = namespace_of(q)
    w, u = q[..., :1], q[..., 1:]
    return v + 2 * _cross(xp, u, _cross(xp, u, v) - w * v)


def exp(r):
    """The quaternion of a rotation vector r (..., 3): about r by |r|."""
    xp = namespace_of(r)
    angle = _norm(xp, r)
    half = 0.5 * angle
    # sin(a/2)/a by its series near 0; its next term, a⁴/3840, is below the last digit
    small = angle < 1e-3
    ratio = xp.where(small, 0.5 - angle * angle / 48, xp.sin(half) / xp.where(small, 1, angle))
    return xp.concatenate([xp.cos(half), ratio * r], -1)


def log(q):
    """The rotation vector of q (..., 3), at most π long: exp(log(q)) is q or -q."""
    xp = namespace_of(q)
    q = xp.where(q[..., :1] < 0, -q, q)
    sine = _norm(xp, q[..., 1:])
    # 2 atan2(s, w)/s; for small s it is 2/w - 2 s²/(3 w³) + ...
    small = sine < 1e-4
    w = q[..., :1]
    large = 2 * xp.arctan2(sine, w) / xp.where(small, 1, sine)
    near = xp.where(small, w, 1)
    ratio = xp.where(small, 2 / near - 2 * sine * sine / (3 * near * near * near), large)
    return ratio * q[..., 1:]


def difference(p, q):
    """The rotation vector from q to p in axes of the world: p = exp(difference(p, q)) q."""
    return log(multiply(p, conjugate(q)))


def angle_between(p, q):
    """The least angle that turns one into the other, 0 to π."""
    return _norm(namespace_of(p), difference(p, q))[..., 0]


def integrate(q, omega, seconds):
    """q after it turned with the angular velocity `omega` of the world for some time: exp(ω t) q."""
    return normalize(multiply(exp(omega * seconds), q))


def slerp(p, q, share):
    """The rotation at `share` (a number or (...,)) of the shortest way from p to q, at constant speed."""
    r = difference(q, p)
    return multiply(exp(r * (share[..., None] if getattr(share, "ndim", 0) else share)), p)


def from_axis_angle(axis, angle):
    """About `axis` (..., 3), which has length 1, by `angle` (...,)."""
    return exp(axis * angle[..., None] if getattr(angle, "ndim", 0) else axis * angle)


def from_euler(roll, pitch, yaw):
    """R = Rz(yaw) Ry(pitch) Rx(roll): about the world's x, then y, then z."""
    xp = namespace_of(roll)
    cr, sr, cp, sp, cy, sy = (f(0.5 * x) for x in (roll, pitch, yaw) for f in (xp.cos, xp.sin))
    return _stack(xp, (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ))  # fmt: skip


def to_euler(q):
    """(roll, pitch, yaw) of `from_euler`; pitch is in ±π/2, where roll and yaw can't be told apart."""
    xp = namespace_of(q)
    w, x, y, z = _parts(q)
    roll = xp.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = xp.arcsin(xp.clip(2 * (w * y - z * x), -1, 1))
    return roll, pitch, xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def yaw(q):
    """The angle of the body's x axis in the plane, from the world's x axis."""
    xp = namespace_of(q)
    w, x, y, z = _parts(q)
    return xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def from_yaw(angle):
    """About z by `angle` (...,)."""
    xp = namespace_of(angle)
    zero = xp.zeros_like(angle)
    return xp.stack((xp.cos(0.5 * angle), zero, zero, xp.sin(0.5 * angle)), -1)


def heading(q):
    """What is left of q without pitch and roll: the frame that turns with the body and stays upright."""
    return from_yaw(yaw(q))


def to_matrix(q):
    """R(q), (..., 3, 3): its columns are the body's axes in the world."""
    xp = namespace_of(q)
    w, x, y, z = _parts(q)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def from_matrix(m):
    """The quaternion of a rotation matrix (..., 3, 3), w >= 0. Of the four ways to write it, Shepperd's choice: divided
    by the largest component, which is at least 1/2."""
    xp = namespace_of(m)
    at = lambda i, j: m[..., i, j]
    d = [at(0, 0), at(1, 1), at(2, 2)]
    squares = xp.stack([1 + d[0] + d[1] + d[2], 1 + d[0] - d[1] - d[2], 1 - d[0] + d[1] - d[2],
                        1 - d[0] - d[1] + d[2]], -1)  # 4 w², 4 x², 4 y², 4 z²  # fmt: skip
    wx, wy, wz = at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)
    xy, xz, yz = at(1, 0) + at(0, 1), at(0, 2) + at(2, 0), at(2, 1) + at(1, 2)
    w2, x2, y2, z2 = _parts(squares)
    table = xp.stack([xp.stack(row, -1) for row in (
        (w2, wx, wy, wz), (wx, x2, xy, xz), (wy, xy, y2, yz), (wz, xz, yz, z2))], -2)  # 4 q qᵀ  # fmt: skip
    largest = xp.argmax(squares, -1)
    choice = (xp.arange(4) == largest[..., None])[..., None]
    q = xp.where(choice, table, 0).sum(-2)  # the row of the largest: 4 q_k q
    q = normalize(q)
    return xp.where(q[..., :1] < 0, -q, q)


def six_numbers(q):
    """The first two columns of R(q), (..., 6): what networks learn rotations by without a jump (Zhou et al. 2019)."""
    m = to_matrix(q)
    return namespace_of(q).concatenate([m[..., 0], m[..., 1]], -1)


def wrap_angle(angle):
    """The same angle in [-π, π)."""
    xp = namespace_of(angle)
    return angle - 2 * xp.pi * xp.floor((angle + xp.pi) / (2 * xp.pi))
