"""What each engine says of two shapes: a signed distance, a unit normal from the first into the second, two points."""

from dataclasses import dataclass
from importlib.util import find_spec

import mujoco
import numpy as np
import stiction

FAR = 10.0  # m: everything is nearer
ITERATIONS = 300  # most, of the searches of coal and MuJoCo
MUJOCO_TOLERANCE = 1e-10  # its default is 1e-6
COAL_TOLERANCE = 1e-6  # its default; with a smaller one its search in overlap often fails
TELLING = 1e-4  # m: between points that are nearer there is no direction


@dataclass
class Answer:
    distance: np.ndarray  # (poses); NaN: the search failed
    normal: np.ndarray  # (poses, 3); NaN: none can be told
    points: tuple | None  # on the first, on the second
    swapped: np.ndarray | None  # the distance, arguments swapped


def normal_between(distance, points):
    way = points[:, 3:] - points[:, :3]
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.where(length > TELLING, np.sign(distance)[:, None] * way / np.maximum(length, TELLING), np.nan)


BATCHES = {}  # of the last model, by number of environments: making one is most of the time


def at_poses(model, qpos):
    if any(b.model is not model for b in BATCHES.values()):
        BATCHES.clear()
    n = len(qpos)
    if n not in BATCHES:
        BATCHES[n] = stiction.Batch(model, n, precision="float64", threads=1)
    BATCHES[n].qpos[:] = qpos
    return BATCHES[n]


def search(xml, model, qpos, placed):
    """The sensors of a batch: the searches of src/physics, or the support over a plane."""
    batch = at_poses(model, qpos)
    batch.refresh()
    d = np.array(batch.sensordata)
    return Answer(d[:, 0], normal_between(d[:, 0], d[:, 4:10]), (d[:, 4:7], d[:, 7:10]), d[:, 10])


def contact(xml, model, qpos, placed):
    """The nearest contact point of a batch: the colliders, closed forms included."""
    contacts = at_poses(model, qpos).contacts()
    distance, normal = np.full(len(qpos), np.inf), np.full((len(qpos), 3), np.nan)
    margin = 2.0 * sum(model.geom_type[g] != 0 for g in range(2))
    for e, gap, n, first in zip(contacts.env, contacts.gap, contacts.normal, contacts.geom1):
        if gap + margin < distance[e]:
            distance[e], normal[e] = gap + margin, n if first == 0 else -n
    return Answer(np.where(np.isinf(distance), np.nan, distance), normal, None, None)


def mujoco_distance(xml, model, qpos, placed):
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.ccd_tolerance, m.opt.ccd_iterations = MUJOCO_TOLERANCE, ITERATIONS
    data, fromto = mujoco.MjData(m), np.empty(6)
    distance, swapped = np.empty(len(qpos)), np.empty(len(qpos))
    points = np.empty((len(qpos), 6))
    for i, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        swapped[i] = mujoco.mj_geomDistance(m, data, 1, 0, FAR, None)
        distance[i] = mujoco.mj_geomDistance(m, data, 0, 1, FAR, fromto)
        points[i] = fromto
    return Answer(distance, normal_between(distance, points), (points[:, :3], points[:, 3:]), swapped)


def coal_geometry(shape):
    import coal

    s = shape.size
    if shape.kind == "plane":
        return coal.Halfspace(np.array([0, 0, 1.0]), 0.0)
    if shape.kind == "sphere":
        return coal.Sphere(s[0])
    if shape.kind == "capsule":
        return coal.Capsule(s[0], 2 * s[1])
    if shape.kind == "ellipsoid":
        return coal.Ellipsoid(*s)
    if shape.kind == "cylinder":
        return coal.Cylinder(s[0], 2 * s[1])
    if shape.kind == "box":
        return coal.Box(*(2 * s))
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(shape.vertices))
    for t in shape.triangles:
        triangles.append(coal.Triangle(*(int(i) for i in t)))
    return coal.Convex(points, triangles)


def coal_distance(xml, model, qpos, placed):
    import coal

    a, b = (coal_geometry(s) for s in placed.shapes)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = COAL_TOLERANCE
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    found, swapped = np.empty((len(qpos), 10)), np.empty(len(qpos))
    for i in range(len(qpos)):
        poses = [coal.Transform3s(placed.R[k][i], placed.c[k][i]) for k in range(2)]
        result = coal.DistanceResult()
        coal.distance(b, poses[1], a, poses[0], request, result)
        swapped[i] = result.min_distance
        result.clear()
        coal.distance(a, poses[0], b, poses[1], request, result)
        found[i] = np.r_[result.min_distance, result.normal, result.getNearestPoint1(), result.getNearestPoint2()]
    failed = np.abs(found[:, 0]) > FAR
    found[failed], swapped[failed | (np.abs(swapped) > FAR)] = np.nan, np.nan
    return Answer(found[:, 0], found[:, 1:4], (found[:, 4:7], found[:, 7:10]), swapped)


def engines():
    both = {"search": search, "contact": contact, "mujoco": mujoco_distance}
    if find_spec("coal") is not None:
        both["coal"] = coal_distance
    return both
