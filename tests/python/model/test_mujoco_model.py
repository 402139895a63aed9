"""Every array of Model against MuJoCo's compiler. `pytest -s` prints the worst shares."""

import numpy as np
import pytest

import stiction
from mujoco_oracle import FILES, NAMES, Worst, load, mujoco, share_of_tolerance

# The same formulas in double precision: a few dozen roundings.
SAME_FORMULA = 1e-12
# Through an eigen-decomposition of inertias or a factorisation of M at qpos0, whose condition
# reaches 1e5 here.
DECOMPOSED = 1e-9
MESHES = 1e-6  # MuJoCo keeps vertices in single precision

worst = Worst()


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print(f"Model against MuJoCo, {len(NAMES)} models: worst share of the tolerance")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def close(quantity, name, ours, theirs, relative):
    share = share_of_tolerance(ours, theirs, relative)
    worst.add(quantity, share, name)
    assert share <= 1, f"{quantity}: ours\n{ours}\nMuJoCo\n{theirs}"


INTEGERS = """
    body_parentid body_rootid body_weldid body_jntadr body_jntnum body_dofadr body_dofnum
    body_mocapid jnt_type jnt_bodyid jnt_qposadr jnt_dofadr jnt_limited jnt_actfrclimited jnt_actgravcomp dof_bodyid
    dof_jntid dof_parentid geom_type geom_bodyid geom_contype geom_conaffinity geom_condim
    geom_priority geom_group geom_dataid cam_bodyid cam_mode cam_projection cam_resolution site_bodyid site_type tendon_adr tendon_num actuator_ctrllimited
    actuator_forcelimited actuator_actadr actuator_actlimited actuator_actearly actuator_dyntype
""".split()

REALS = """
    body_pos body_quat body_mass body_ipos body_subtreemass body_gravcomp jnt_pos jnt_axis jnt_range
    jnt_margin jnt_solref jnt_stiffness jnt_stiffnesspoly jnt_actfrcrange qpos0 qpos_spring dof_armature dof_damping dof_dampingpoly
    dof_frictionloss
    geom_size geom_pos geom_quat geom_rbound geom_friction geom_solref geom_solimp geom_solmix
    geom_margin geom_gap geom_fluid cam_pos cam_quat cam_fovy cam_sensorsize site_pos site_quat site_size actuator_gear actuator_ctrlrange actuator_forcerange
    actuator_actrange actuator_cranklength key_time key_qpos key_qvel key_act key_ctrl
""".split()

# Compared by a test of its own below, or a material of ours that MuJoCo does not have.
ELSEWHERE = {
    "body_inertia", "body_iquat", "body_invweight0", "dof_invweight0",
    "actuator_trntype", "actuator_trnid", "actuator_gain", "actuator_bias", "geom_native", "geom_alpha",
    "key_mpos", "key_mquat",  # test_mocap_keys.py
    # test_activations.py, test_transmissions.py
    "actuator_dynprm", "actuator_gainmuscle", "actuator_biasmuscle", "actuator_muscle",
    "actuator_lengthrange", "actuator_acc0", "actuator_refid",
    "geom_stiffness", "geom_dissipation", "geom_relaxation_time", "geom_restitution", "gravity", "wind", "magnetic",
    "geom_surfacevel",  # test_surfacevel.py
    "cam_intrinsic",  # test_distance_sensors.py
    "geom_meshadr", "geom_meshnum", "geom_mesh",  # test_mesh_choices.py
}


def test_no_array_is_left_out():
    model = load(NAMES[0])[1]
    arrays = {a for a in dir(model) if isinstance(getattr(model, a), np.ndarray)}
    pairs = {a for a in arrays if a.startswith("pair_")}
    sensors = {a for a in arrays if a.startswith("sensor_")}  # test_mujoco_sensors.py
    equalities = {a for a in arrays if a.startswith("eq_")}  # test_equalities.py
    tendons = {a for a in arrays if a.startswith(("tendon_", "wrap_"))}  # test_tendons
    meshes = {a for a in arrays if a.startswith("mesh_")}  # test_meshes.py
    fields = {a for a in arrays if a.startswith("hfield_")}  # test_hfields.py
    known = {*INTEGERS, *REALS, *ELSEWHERE}
    assert arrays == known.union(pairs, sensors, equalities, tendons, meshes, fields)


def test_files():
    count = {folder: sum(f.startswith(folder) for f in FILES) for folder in ("gymnasium", "models")}
    assert count == {"gymnasium": 14, "models": 12}


# <size nkey="5"/> makes MuJoCo add unnamed keyframes at qpos0; here a model has those of the file.
PADDED_KEYS = {"gymnasium/humanoid.xml": 5, "gymnasium/humanoidstandup.xml": 5}


def test_sizes_and_names(name):
    theirs, ours = load(name)
    for size in "nq nv nu na nbody njnt ngeom nsite nmocap ntendon".split():
        assert getattr(ours, size) == getattr(theirs, size), size
    assert ours.nkey == theirs.nkey - PADDED_KEYS.get(name, 0)
    for key in range(ours.nkey, theirs.nkey):
        assert theirs.key(key).name == ""
        np.testing.assert_array_equal(theirs.key_qpos[key], theirs.qpos0)
    assert len(ours.sensors) == theirs.nsensor
    assert ours.neq == theirs.neq
    for kind, number, names in (
        ("body", ours.nbody, ours.body_names), ("joint", ours.njnt, ours.jnt_names),
        ("geom", ours.ngeom, ours.geom_names), ("site", ours.nsite, ours.site_names),
        ("tendon", ours.ntendon, ours.tendon_names),
        ("actuator", ours.nu, ours.actuator_names), ("key", ours.nkey, ours.key_names),
    ):
        assert names == tuple(getattr(theirs, kind)(i).name for i in range(number))


def test_integers(name):
    theirs, ours = load(name)
    for field in INTEGERS:
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), field)


def test_reals(name):
    theirs, ours = load(name)
    for field in REALS:
        a, b = getattr(ours, field), getattr(theirs, field)
        if field.startswith("key_"):
            b = b[: len(b) - PADDED_KEYS.get(name, 0)]
        if field.endswith("quat") and len(b):  # q and -q are the same rotation
            a = a * np.where((a * b).sum(axis=1, keepdims=True) < 0, -1, 1)
        if field.startswith("geom_") and (meshes := theirs.geom_type == mujoco.mjtGeom.mjGEOM_MESH).any():
            close(field + " of meshes", name, a[meshes], b[meshes], MESHES)
            a, b = a[~meshes], b[~meshes]
        close(field, name, a, b, SAME_FORMULA)


def test_options(name):
    theirs, ours = load(name)
    assert ours.timestep == theirs.opt.timestep
    np.testing.assert_array_equal(ours.gravity, theirs.opt.gravity)
    np.testing.assert_array_equal(ours.wind, theirs.opt.wind)
    assert (ours.density, ours.viscosity) == (theirs.opt.density, theirs.opt.viscosity)


def rotation(quat):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.array(quat))
    return matrix.reshape(3, 3)


def test_inertia(name):
    """Moments up to their order; the tensor, since axes are unique up to sign and permutation."""
    theirs, ours = load(name)
    close("moments", name, np.sort(ours.body_inertia), np.sort(theirs.body_inertia), DECOMPOSED)
    for b in range(1, ours.nbody):
        tensors = [R @ np.diag(moments) @ R.T for R, moments in (
            (rotation(m.body_iquat[b]), m.body_inertia[b]) for m in (ours, theirs))]
        close("inertia tensor", name, *tensors, DECOMPOSED)


def test_weights_at_qpos0(name):
    theirs, ours = load(name)
    for field in ("body_invweight0", "dof_invweight0"):
        close(field, name, getattr(ours, field), getattr(theirs, field), DECOMPOSED)


def test_actuators(name):
    theirs, ours = load(name)
    tendon = theirs.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON
    assert np.all(tendon | (theirs.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT))
    np.testing.assert_array_equal(ours.actuator_trntype == stiction.Transmission.tendon, tendon)
    np.testing.assert_array_equal(ours.actuator_trnid, theirs.actuator_trnid[:, 0])
    affine = theirs.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE
    bias = theirs.actuator_biasprm[:, :3] * affine[:, None]
    affine = theirs.actuator_gaintype == mujoco.mjtGain.mjGAIN_AFFINE
    gain = theirs.actuator_gainprm[:, :3] * np.column_stack([np.ones_like(affine), affine, affine])
    close("actuator_gain", name, ours.actuator_gain, gain, SAME_FORMULA)
    # kv from dampratio: a square root of the inertia at qpos0
    close("actuator_bias", name, ours.actuator_bias, bias, DECOMPOSED)


def test_tendons(name):
    theirs, ours = load(name)
    np.testing.assert_array_equal(ours.wrap_type, theirs.wrap_type)
    np.testing.assert_array_equal(ours.wrap_objid, theirs.wrap_objid)
    geoms = theirs.wrap_type >= int(mujoco.mjtWrap.mjWRAP_SPHERE)
    np.testing.assert_array_equal(ours.wrap_sideid[geoms], theirs.wrap_prm[geoms])
    np.testing.assert_array_equal(ours.wrap_coef[~geoms], theirs.wrap_prm[~geoms])
    for field, its in {
        "limited": "limited", "range": "range", "margin": "margin", "solref": "solref_lim",
        "stiffness": "stiffness", "damping": "damping", "armature": "armature",
        "frictionloss": "frictionloss", "actfrclimited": "actfrclimited",
        "actfrcrange": "actfrcrange",
    }.items():  # fmt: skip
        np.testing.assert_array_equal(
            getattr(ours, f"tendon_{field}"), getattr(theirs, f"tendon_{its}"))
    close("tendon_length0", name, ours.tendon_length0, theirs.tendon_length0, SAME_FORMULA)
    close("tendon_invweight0", name, ours.tendon_invweight0, theirs.tendon_invweight0, 1e-10)
    close("tendon_lengthspring", name, ours.tendon_lengthspring, theirs.tendon_lengthspring,
          SAME_FORMULA)


def weld_parent(m, weld):
    return m.body_weldid[m.body_parentid[weld]]


def candidate_pairs(m):
    """MuJoCo's filters on the arrays of its model: {(g1, g2): index of <pair> or None}."""
    excluded = {tuple(sorted((int(s) >> 16, int(s) & 0xFFFF))) for s in m.exclude_signature}
    fixed = [m.body_dofnum[m.body_weldid[b]] == 0 for b in range(m.nbody)]
    found = {}
    for g1 in range(m.ngeom):
        for g2 in range(g1 + 1, m.ngeom):
            b1, b2 = sorted((int(m.geom_bodyid[g1]), int(m.geom_bodyid[g2])))
            w1, w2 = int(m.body_weldid[b1]), int(m.body_weldid[b2])
            if w1 == w2 or (fixed[b1] and fixed[b2]) or (b1, b2) in excluded:
                continue
            if 0 not in (w1, w2) and (weld_parent(m, w1) == w2 or weld_parent(m, w2) == w1):
                continue
            if (m.geom_contype[g1] & m.geom_conaffinity[g2]
                    or m.geom_contype[g2] & m.geom_conaffinity[g1]):
                found[g1, g2] = None
    for p in range(m.npair):
        found[tuple(sorted((int(m.pair_geom1[p]), int(m.pair_geom2[p]))))] = p
    return found


def test_pairs(name):
    """Candidate pairs with and without collider, and what their geoms say together."""
    theirs, ours = load(name)
    expected = candidate_pairs(theirs)
    with_collider = {tuple(sorted(p)): i for i, p in enumerate(
        zip(ours.pair_geom1.tolist(), ours.pair_geom2.tolist()))}
    without = {tuple(sorted((p.geom1, p.geom2))) for p in ours.report.pairs_without_collider}
    assert with_collider.keys() | without == expected.keys()
    assert not with_collider.keys() & without
    assert len(with_collider) == ours.npair

    for (g1, g2), i in with_collider.items():
        a, b = ours.geom_type[ours.pair_geom1[i]], ours.geom_type[ours.pair_geom2[i]]
        assert a <= b
        p = expected[g1, g2]
        assert ours.pair_explicit[i] == (p is not None)
        if p is None:
            # the geom of higher priority decides; equal: the larger value
            n1, n2 = theirs.geom_priority[[g1, g2]]
            decide = [g1] if n1 > n2 else [g2] if n2 > n1 else [g1, g2]
            condim = theirs.geom_condim[decide].max()
            friction, torsion, rolling = theirs.geom_friction[decide].max(axis=0)
            margin = theirs.geom_margin[[g1, g2]].sum()
        else:
            condim = theirs.pair_dim[p]
            friction, _, torsion, rolling, _ = theirs.pair_friction[p]
            margin = theirs.pair_margin[p]
        assert ours.pair_condim[i] == condim
        assert ours.pair_friction[i] == (0 if condim == 1 else friction)
        assert ours.pair_torsion[i] == (torsion if condim >= 4 else 0)
        assert ours.pair_rolling[i] == (rolling if condim == 6 else 0)
        assert ours.pair_margin[i] == pytest.approx(margin, rel=SAME_FORMULA)
    assert ours.nslot == ours.pair_slotnum.sum()


def test_whole(name):
    report = load(name)[1].report
    assert not [e for e in report.entries if e.use == "refused" or (e.use == "ignored" and e.physics)]
    assert not report.pairs_without_collider
    assert report.complete
