"""Shapes as vertices and triangles, and the files that hold them."""

import struct

import numpy as np

WEDGE = (np.array([[0, 0, 0], [0.3, 0, 0], [0.3, 0.2, 0], [0, 0.2, 0], [0, 0, 0.1], [0.3, 0, 0.25]], float),
         np.array([[0, 2, 1], [0, 3, 2], [0, 1, 5], [0, 5, 4], [1, 2, 5], [3, 0, 4], [2, 3, 4], [2, 4, 5]]))  # fmt: skip


def cup():
    """A box with a pit: not convex."""
    outer = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    inner = np.array([[x, y, 1] for y in (0.2, 0.7) for x in (0.25, 0.8)] + [[0.5, 0.5, 0.3]])
    faces = [[0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5],
             [8, 9, 12], [9, 11, 12], [11, 10, 12], [10, 8, 12],
             [4, 5, 9], [4, 9, 8], [5, 7, 11], [5, 11, 9], [7, 6, 10], [7, 10, 11], [6, 4, 8], [6, 8, 10]]  # fmt: skip
    return np.vstack([outer, inner]) * [0.1, 0.12, 0.2], np.array(faces)


def tumbler(sides=24):
    """A round cup of 8 cm: walls and bottom of 3 mm, wider at the top. Not convex."""
    turn = 2 * np.pi * np.arange(sides) / sides
    ring = lambda r, z: np.column_stack([r * np.cos(turn), r * np.sin(turn), np.full(sides, z)])
    rings = [ring(0.020, -0.04), ring(0.025, 0.04), ring(0.022, 0.04), ring(0.017, -0.037)]
    bottom, floor = 4 * sides, 4 * sides + 1
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        for low in range(0, 3 * sides, sides):
            faces += [[low + i, low + j, low + sides + j], [low + i, low + sides + j, low + sides + i]]
        faces += [[bottom, j, i], [floor, 3 * sides + i, 3 * sides + j]]
    return np.vstack([*rings, [[0, 0, -0.04], [0, 0, -0.037]]]), np.array(faces)


def stone(count=60, seed=1):
    """Points on an ellipsoid, no faces."""
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * [0.1, 0.2, 0.15] + [0.05, 0, 0.1], np.zeros((0, 3), int)


def icosahedron():
    """(12, 3) on the unit sphere."""
    g = (1 + np.sqrt(5)) / 2
    p = np.array([[0, i, j * g] for i in (-1, 1) for j in (-1, 1)])
    p = np.vstack([p, np.roll(p, 1, axis=1), np.roll(p, 2, axis=1)])
    return p / np.linalg.norm(p[0])


def icosphere(radius, level=2):
    """On a sphere: an icosahedron and, level by level, what lies over the middles of all edges; 42, 162 vertices."""
    p = icosahedron()
    for _ in range(level):
        apart = np.linalg.norm(p[:, None] - p, axis=2)
        # the edges of a level differ by a seventh, diagonals are longer by more than a half
        i, j = np.nonzero(np.triu(apart < 1.3 * apart[apart > 0].min(), 1))
        middle = p[i] + p[j]
        p = np.vstack([p, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
    return radius * p


def obj(vertices, faces):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a}//1 {b}//1 {c}//1" for a, b, c in (faces + 1).tolist()]
    return "# shape\nvn 0 0 1\n" + "\n".join(lines) + "\n"


def stl(vertices, faces):
    triangle = lambda f: struct.pack("<12fH", 0, 0, 0, *vertices[f].reshape(-1), 0)
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(map(triangle, faces))


def text_stl(vertices, faces):
    corner = lambda v: f"vertex {v[0]!r} {v[1]!r} {v[2]!r}"
    facet = lambda f: "facet normal 0 0 0\nouter loop\n" + "\n".join(map(corner, vertices[f].tolist())) + "\nendloop\nendfacet\n"
    return "solid s\n" + "".join(map(facet, faces)) + "endsolid s\n"


def msh(vertices, faces):
    return (struct.pack("<4i", len(vertices), len(vertices), len(vertices), len(faces)) + vertices.astype("<f4").tobytes()
            + bytes(20 * len(vertices)) + faces.astype("<i4").tobytes())  # fmt: skip


def numbers(a):
    return " ".join(repr(x) for x in a.reshape(-1).tolist())
