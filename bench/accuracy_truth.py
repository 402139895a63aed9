"""The signed distance of two convex shapes by their support functions, in NumPy; nothing of any engine but the poses of the shapes."""

import numpy as np
from accuracy_engines import at_poses

DEEP = 0.005  # m of overlap
EXACT_AXES = 5000  # most products of edges that are looked at
DIRECTIONS = 200
ROUNDS = 60  # the steps halve in most of them
CLOSE = 1e-12  # m: normals by which the shapes are as far apart but for this are equally good


def local(R, v):
    """R^T v of (poses, 3, 3) and (poses, ..., 3)."""
    return np.einsum("pji,p...j->p...i", R, v)


class Shape:
    """Support function, surface, faces and edges, in the shape's own frame."""

    def __init__(self, kind, size, vertices=None, faces=None, triangles=None):
        self.kind, self.size, self.vertices, self.faces, self.triangles = kind, size, vertices, faces, triangles

    def support(self, n):
        """max n·x over the shape."""
        s, a = self.size, np.abs(n)
        if self.kind == "sphere":
            return s[0] * np.linalg.norm(n, axis=-1)
        if self.kind == "capsule":
            return s[0] * np.linalg.norm(n, axis=-1) + s[1] * a[..., 2]
        if self.kind == "ellipsoid":
            return np.linalg.norm(s * n, axis=-1)
        if self.kind == "cylinder":
            return s[0] * np.hypot(n[..., 0], n[..., 1]) + s[1] * a[..., 2]
        if self.kind == "box":
            return a @ s
        most = np.full(n.shape[:-1], -np.inf)
        for i in range(0, len(self.vertices), 50):
            most = np.maximum(most, (n @ self.vertices[i : i + 50].T).max(-1))
        return most

    def beyond(self, x):
        """Distance of points from the surface, to first order where that is far: > 0 outside."""
        s = self.size
        if self.kind == "plane":
            return x[:, 2]
        if self.kind == "sphere":
            return np.linalg.norm(x, axis=1) - s[0]
        if self.kind == "capsule":
            on_axis = np.clip(x[:, 2], -s[1], s[1])
            return np.linalg.norm(x - on_axis[:, None] * [0, 0, 1], axis=1) - s[0]
        if self.kind == "ellipsoid":
            k = np.linalg.norm(x / s, axis=1)
            return k * (k - 1) / np.linalg.norm(x / s**2, axis=1)
        if self.kind == "cylinder":
            q = np.stack([np.hypot(x[:, 0], x[:, 1]) - s[0], np.abs(x[:, 2]) - s[1]], -1)
        elif self.kind == "box":
            q = np.abs(x) - s
        else:
            normals, offsets = self.faces
            return (x @ normals.T - offsets).max(1)
        outside = np.linalg.norm(np.maximum(q, 0), axis=1)
        return outside + np.minimum(q.max(1), 0)

    def face_normals(self):
        if self.kind == "box":
            return np.concatenate([np.eye(3), -np.eye(3)])
        if self.kind == "cylinder":
            return np.array([[0, 0, 1.0], [0, 0, -1.0]])
        return self.faces[0] if self.kind == "mesh" else np.empty((0, 3))

    def edges(self):
        """Directions of straight edges, and of a cylinder's and a capsule's side."""
        if self.kind == "box":
            return np.eye(3)
        if self.kind in ("cylinder", "capsule"):
            return np.array([[0, 0, 1.0]])
        if self.kind != "mesh":
            return np.empty((0, 3))
        t = self.triangles
        pairs = np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1), axis=0)
        d = self.vertices[pairs[:, 1]] - self.vertices[pairs[:, 0]]
        return d / np.linalg.norm(d, axis=1, keepdims=True)


KINDS = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}


def shape_of(model, g):
    kind, size = KINDS[int(model.geom_type[g])], np.array(model.geom_size[g])
    if kind != "mesh":
        return Shape(kind, size)
    k = model.geom_dataid[g]
    v = np.array(model.mesh_vert)[model.mesh_vertadr[k] :][: model.mesh_vertnum[k]]
    t = np.array(model.mesh_face)[model.mesh_faceadr[k] :][: model.mesh_facenum[k]]
    normal = np.cross(v[t[:, 1]] - v[t[:, 0]], v[t[:, 2]] - v[t[:, 0]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= np.sign(np.einsum("ij,ij->i", normal, v[t[:, 0]] - v.mean(0)))[:, None]
    return Shape(kind, size, v, (normal, (normal @ v.T).max(1)), t)


class Placed:
    """Both shapes at all poses: centres c (2, poses, 3) and axes R (2, poses, 3, 3)."""

    def __init__(self, model, qpos):
        self.shapes = [shape_of(model, 0), shape_of(model, 1)]
        batch = at_poses(model, qpos)
        self.c = np.array(batch.geom_xpos, float).transpose(1, 0, 2)
        self.R = np.array(batch.geom_xmat, float).reshape(len(qpos), 2, 3, 3).transpose(1, 0, 2, 3)

    def apart(self, n):
        """s(n) of unit normals (poses, ..., 3)."""
        (a, b), (Ra, Rb) = self.shapes, self.R
        between = np.einsum("pi,p...i->p...", self.c[1] - self.c[0], n)
        if a.kind == "plane":  # along any other normal a plane has no support
            return between - b.support(local(Rb, -n))
        return between - a.support(local(Ra, n)) - b.support(local(Rb, -n))


class Truth:
    """The best of all normals at each pose, and its distance."""

    def __init__(self, placed, normals, rng):
        self.placed = placed
        P = placed.c.shape[1]
        if placed.shapes[0].kind == "plane":
            self.normal = placed.R[0][:, :, 2]
        else:
            self.normal = np.tile([0.0, 0.0, 1.0], (P, 1))
            self.distance = placed.apart(self.normal)
            for n in normals:
                self.consider(np.where(np.isnan(n).any(1)[:, None], self.normal, n)[:, None])
            self.features()
            self.search(rng, P)
        self.distance = placed.apart(self.normal)

    def consider(self, n):
        """Unit normals (poses, k, 3)."""
        length = np.linalg.norm(n, axis=-1, keepdims=True)
        n = np.where(length > 1e-9, n / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
        s = self.placed.apart(n)
        k = s.argmax(1)[:, None]
        s, n = np.take_along_axis(s, k, 1)[:, 0], np.take_along_axis(n, k[..., None], 1)[:, 0]
        better = s > self.distance
        self.distance, self.normal = np.where(better, s, self.distance), np.where(better[:, None], n, self.normal)

    def features(self):
        (a, b), (Ra, Rb) = self.placed.shapes, self.placed.R
        world = lambda R, v: np.einsum("pij,kj->pki", R, v)  # noqa: E731
        chunk = 2000
        for R, faces in ((Ra, a.face_normals()), (Rb, -b.face_normals())):
            if len(faces):
                for i in range(0, len(faces), chunk):
                    self.consider(world(R, faces[i : i + chunk]))
        one, other = a.edges(), b.edges()
        if not len(one) or not len(other) or len(one) * len(other) > EXACT_AXES:
            return
        one, other = world(Ra, one), world(Rb, other)
        for i in range(one.shape[1]):
            n = np.cross(one[:, i, None], other)
            self.consider(np.concatenate([n, -n], axis=1))

    def search(self, rng, P):
        """From the best of the directions, and from the best normal so far, uphill by steps that shrink."""
        d = rng.normal(size=(DIRECTIONS, 3))
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        s = self.placed.apart(np.broadcast_to(d, (P, DIRECTIONS, 3)))
        for n in (d[s.argmax(1)], self.normal.copy()):
            best, step = self.placed.apart(n), np.full(P, 0.1)
            for _ in range(ROUNDS):
                u = np.cross(n, np.eye(3)[np.abs(n).argmin(1)])
                u /= np.linalg.norm(u, axis=1, keepdims=True)
                v = np.cross(n, u)
                angle = (rng.uniform(0, np.pi / 2, (P, 1)) + np.pi / 3 * np.arange(6))[..., None]
                m = n[:, None] + step[:, None, None] * (np.cos(angle) * u[:, None] + np.sin(angle) * v[:, None])
                m /= np.linalg.norm(m, axis=-1, keepdims=True)
                s = self.placed.apart(m)
                k = s.argmax(1)
                s, m = s[np.arange(P), k], m[np.arange(P), k]
                better = s > best + 1e-15
                n, best = np.where(better[:, None], m, n), np.where(better, s, best)
                step = np.where(better, np.minimum(1.5 * step, 0.1), 0.5 * step)
            self.consider(n[:, None])

    def errors(self, answer):
        placed, d = self.placed, self.distance
        loss = d - placed.apart(answer.normal)
        # of a normal that is as good the angle is none
        angle = np.linalg.norm(answer.normal - self.normal, axis=1)
        angle = np.where(loss < CLOSE, 0.0, angle)
        result = {"distance": np.abs(answer.distance - d), "loss": np.abs(loss), "normal": angle}
        if answer.points is not None:
            start, end = answer.points
            on = [np.abs(s.beyond(local(R, x - c))) for s, R, c, x in zip(placed.shapes, placed.R, placed.c, (start, end))]
            n = np.where(np.isnan(answer.normal), self.normal, answer.normal)
            off = np.linalg.norm(end - start - d[:, None] * n, axis=1)
            result["witness"] = np.max([*on, off], axis=0)
        else:
            result["witness"] = np.full(len(d), np.nan)
        swapped = np.full(len(d), np.nan) if answer.swapped is None else np.abs(answer.swapped - answer.distance)
        result["swapped"] = swapped
        return result
