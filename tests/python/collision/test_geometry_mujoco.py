"""Contact geometry of primitives against live MuJoCo at random poses (docs/geometry.md)."""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

# Two different computations of numbers near 1, in double: what is asked for. Poses where a normal
# divides round-off by a distance below CLOSE are left out.
TOLERANCE = 1e-9
CLOSE = 1e-3

MARGIN = 10.0  # of each geom: every contact point of a pair is listed however far apart
POSES = 200
SCENES = 5

# Points that agree, of those that MuJoCo makes. Of its cylinder only the deepest rim point of a cap
# does (then it adds the other cap's and two at 120 degrees, we have four rim points on each cap);
# of capsule against box the nearest (the other one follows another rule).
PAIRS = {
    ("plane", "sphere"): "all",
    ("plane", "capsule"): "all",
    ("plane", "ellipsoid"): "all",
    ("plane", "cylinder"): "deepest",
    ("plane", "box"): "all",
    ("sphere", "sphere"): "all",
    ("sphere", "capsule"): "all",
    ("sphere", "box"): "all",
    ("capsule", "capsule"): "all",
    ("capsule", "box"): "deepest",
}

SCENE = """
<mujoco>
  <default><geom margin="{margin}"/></default>
  <worldbody>
    {first}
    <body><freejoint/><geom name="second" type="{type}" size="{size}"/></body>
  </worldbody>
</mujoco>
"""


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_scene(first, second, rng):
    sizes = {t: numbers(rng.uniform(0.1, 0.6, 3)) for t in (first, "second")}
    if first == "plane":
        pose = f'pos="{numbers(rng.normal(size=3))}" quat="{numbers(random_quaternion(rng))}"'
        xml = f'<geom name="first" type="plane" size="1 1 1" {pose}/>'
    else:
        geom = f'<geom name="first" type="{first}" size="{sizes[first]}"/>'
        xml = f"<body><freejoint/>{geom}</body>"
    return SCENE.format(margin=MARGIN, first=xml, type=second, size=sizes["second"])


def mujoco_contacts(model, data, qpos):
    """(distance, normal, midpoint) of every contact."""
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    return [(c.dist, c.frame[:3].copy(), c.pos.copy()) for c in data.contact]


def our_contacts(reference, qpos, qvel):
    contacts = reference.forward(qpos, qvel).contacts
    return [(c.gap + 2 * MARGIN, np.array(c.normal), np.array(c.pos)) for c in contacts]


def difference(a, b):
    return max(abs(a[0] - b[0]), *abs(a[1] - b[1]), *abs(a[2] - b[2]))


def random_poses(pair, seed):
    """(our contacts, MuJoCo's contacts, axis clearance of the pair) at random poses."""
    rng = np.random.default_rng(seed)
    for _ in range(SCENES):
        xml = random_scene(*pair, rng)
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        reference = stiction.Reference(stiction.Model.from_xml(xml))
        for _ in range(POSES):
            bodies = model.nq // 7
            qpos = np.concatenate(
                [np.r_[rng.uniform(-0.8, 0.8, 3), random_quaternion(rng)] for _ in range(bodies)]
            )
            ours = our_contacts(reference, qpos, np.zeros(model.nv))
            radius = model.geom_size[0][0] if pair[0] != "plane" else 0.0
            radius += model.geom_size[1][0] if pair[1] in ("sphere", "capsule") else 0.0
            clearance = min(c[0] for c in ours) + radius
            yield ours, mujoco_contacts(model, data, qpos), clearance


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_contacts_of_mujoco_are_among_ours(pair):
    compared = overlapping = 0
    worst = 0.0
    for ours, theirs, clearance in random_poses(pair, seed=1):
        if pair[0] != "plane" and abs(clearance) < CLOSE:
            continue
        if pair == ("capsule", "box") and clearance < CLOSE:
            continue  # the axis enters the box: MuJoCo reports less than the least depth
        assert theirs
        if PAIRS[pair] == "deepest":
            theirs = [min(theirs, key=lambda c: c[0])]
        for contact in theirs:
            worst = max(worst, min(difference(contact, c) for c in ours))
            compared += 1
            overlapping += contact[0] < 0
    print(f"{pair}: {compared} contacts, {overlapping} overlapping, worst {worst:.1e}")
    assert compared > 200 and overlapping > 20
    assert worst < TOLERANCE


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_deepest_point_is_mujocos(pair):
    """The least distance agrees too: MuJoCo leaves out none of our points that are deeper."""
    for ours, theirs, clearance in random_poses(pair, seed=2):
        if pair == ("capsule", "box") and clearance < CLOSE:
            continue
        assert min(c[0] for c in ours) == pytest.approx(min(c[0] for c in theirs), abs=TOLERANCE)


SEARCHED = [("sphere", "ellipsoid"), ("sphere", "cylinder"), ("capsule", "ellipsoid"), ("capsule", "cylinder"),
            ("ellipsoid", "ellipsoid"), ("ellipsoid", "cylinder"), ("ellipsoid", "box"),
            ("cylinder", "cylinder"), ("cylinder", "box")]  # fmt: skip
CLOSELY = 1e-5  # to what MuJoCo's search resolves


@pytest.mark.parametrize("pair", SEARCHED, ids="-".join)
def test_distance_of_cylinders_and_ellipsoids(pair):
    """The signed distance beside mj_geomDistance: the same apart; overlapping, a way out no longer than
    MuJoCo's."""
    rng = np.random.default_rng(4)
    apart = overlapping = 0
    for _ in range(SCENES):
        xml = random_scene(*pair, rng)
        model = mujoco.MjModel.from_xml_string(xml)
        model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-10, 200
        data = mujoco.MjData(model)
        reference = stiction.Reference(stiction.Model.from_xml(xml))
        for _ in range(POSES // 2):
            qpos = np.concatenate([np.r_[rng.uniform(-0.7, 0.7, 3), random_quaternion(rng)] for _ in range(2)])
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            theirs = mujoco.mj_geomDistance(model, data, 0, 1, MARGIN, None)
            ours = min(c[0] for c in our_contacts(reference, qpos, np.zeros(12)))
            if theirs > 0:
                assert ours == pytest.approx(theirs, abs=CLOSELY)
                apart += 1
            else:
                assert theirs - CLOSELY < ours < CLOSELY
                overlapping += 1
    print(f"{pair}: {apart} apart, {overlapping} overlapping")
    assert apart > 100 and overlapping > 100


def test_boxes_agree_where_a_face_is_the_way_out():
    """Of two boxes whose shortest separation is along a face's normal: distance and normal of the
    deepest point. Along edges MuJoCo's is another one, biased towards the faces."""
    rng = np.random.default_rng(3)
    compared = overlapping = 0
    for _ in range(SCENES):
        xml = random_scene("box", "box", rng)
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        reference = stiction.Reference(stiction.Model.from_xml(xml))
        for _ in range(POSES):
            qpos = np.concatenate(
                [np.r_[rng.uniform(-0.8, 0.8, 3), random_quaternion(rng)] for _ in range(2)]
            )
            ours = our_contacts(reference, qpos, np.zeros(12))
            distance, normal, _ = min(ours, key=lambda c: c[0])
            theirs = mujoco_contacts(model, data, qpos)
            if np.max(np.abs(normal @ data.geom_xmat.reshape(2, 3, 3))) < 1 - 1e-12:
                continue
            nearest = min(theirs, key=lambda c: c[0])
            assert distance == pytest.approx(nearest[0], abs=TOLERANCE)
            assert normal == pytest.approx(nearest[1], abs=TOLERANCE)
            compared += 1
            overlapping += distance < 0
    print(f"boxes: {compared} of {SCENES * POSES} poses, {overlapping} overlapping")
    assert compared > 200 and overlapping > 100
