"""Files that MuJoCo saves from a compiled model (mj_saveLastXML): here they are the model that they were saved from."""

import contextlib
import ctypes
import functools
import pathlib
import warnings

import numpy as np
import pytest

import stiction
import test_activations
import test_actuatorgravcomp
import test_adhesion
import test_ball_limits
import test_couplings
import test_equalities
import test_limit_sensors
import test_odd_robot
import test_polynomial_springs
import test_tendons
import test_transmissions
from mujoco_oracle import FILES, ZOO, mujoco, random_ctrl, random_qpos, share_of_tolerance
from random_models import RandomModel

TEXTS = {
    **{f"zoo/{name}": xml for name, xml in ZOO.items()}, "activations": test_activations.XML,
    "actuatorgravcomp": test_actuatorgravcomp.SERVO, "adhesion": test_adhesion.XML, "ball limits": test_ball_limits.CHAIN,
    "couplings": test_couplings.HAND, "equalities": test_equalities.TREE, "limit sensors": test_limit_sensors.XML,
    "odd robot": test_odd_robot.XML, "springs": test_polynomial_springs.XML, "tendons": test_tendons.HUNG, "transmissions": test_transmissions.XML,
    **{f"random {seed}": RandomModel(seed).xml for seed in range(4)},
}  # fmt: skip

# MuJoCo writes 6 digits; all 17 if its library is told so, by a function that no header has. Of 6, 5e-7 each, sums of arms
# keep 1e-5; forces of a steep law (a muscle, a servo) less.
DIGITS = {6: 1e-5, 17: 1e-10}
ARMS = ("M", "qfrc_bias", "actuator_length", "eq_gap", "geom_xpos", "site_xpos")
FORCES = ("qfrc_passive", "qfrc_actuator", "actuator_moment", "act_dot", "eq_J")
OF_A_BATCH = ("ten_length", "ten_J", "sensordata")


@contextlib.contextmanager
def digits(count):
    (path,) = pathlib.Path(mujoco.__file__).parent.glob("libmujoco.so*")
    library = ctypes.CDLL(str(path))
    before = library._mjPRIVATE__get_xml_precision()
    library._mjPRIVATE__set_xml_precision(count)
    yield
    library._mjPRIVATE__set_xml_precision(before)


@functools.cache
def models(name, count, folder):
    """(MuJoCo's, ours of the original, ours of what MuJoCo saves)"""
    file = folder / f"{count}.xml"
    with digits(count):
        theirs = (mujoco.MjModel.from_xml_path(str(FILES[name])) if name in FILES else
                  mujoco.MjModel.from_xml_string(TEXTS[name]))
        mujoco.mj_saveLastXML(str(file), theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        ours = stiction.Model.from_file(FILES[name]) if name in FILES else stiction.Model.from_xml(TEXTS[name])
        return theirs, ours, stiction.Model.from_file(file)


@pytest.fixture(scope="module", params=[*FILES, *TEXTS])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def folder(name, tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


@pytest.mark.parametrize("count", DIGITS)
def test_motion_is_the_originals(name, folder, count):
    theirs, *ours = models(name, count, folder)
    references = [stiction.Reference(m) for m in ours]
    batches = [stiction.Batch(m, 1, precision="float64") for m in ours]
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v = random_qpos(theirs, rng), rng.normal(size=theirs.nv)
        inputs = {"act": rng.uniform(-1, 1, theirs.na), "ctrl": random_ctrl(theirs, rng)}
        before, after = (r.forward(q, v, **inputs) for r in references)
        for field in ARMS if count == 6 else ARMS + FORCES:
            a, b = getattr(before, field), getattr(after, field)
            assert share_of_tolerance(b, a, DIGITS[count]) <= 1, f"{field}: {a}, saved {b}"
        for batch in batches:
            batch.set_state(qpos=q[None], qvel=v[None])
            batch.refresh()
        for field in OF_A_BATCH[:1] if count == 6 else OF_A_BATCH:
            a, b = (getattr(batch, field) for batch in batches)
            assert share_of_tolerance(b, a, DIGITS[count]) <= 1, f"{field}: {a}, saved {b}"


def test_numbers_are_the_originals(name, folder):
    """All arrays of the model; of sizes those that the shape has, and a quaternion may have the other sign."""
    _, before, after = models(name, 17, folder)
    compared = 0
    for field in dir(before):
        a, b = getattr(before, field), getattr(after, field)
        if field.startswith("_") or not isinstance(a, np.ndarray) or a.dtype.kind not in "fiub":
            continue
        assert a.shape == b.shape, field
        if field.endswith("_quat"):
            b = b * np.where((a * b).sum(axis=1, keepdims=True) < 0, -1, 1)
        if field in ("geom_size", "site_size"):
            used = USED[getattr(before, field.replace("size", "type"))]
            a, b = a * used, b * used
        compared += a.size > 0
        assert share_of_tolerance(b, a, 1e-12) <= 1, f"{field}: {a}, saved {b}"
    assert compared > 50


# How many sizes a shape has: plane, height field, sphere, capsule, ellipsoid, cylinder, box, mesh.
USED = np.arange(3) < np.array([[0], [0], [1], [2], [3], [2], [3], [0]])


def test_nothing_more_is_ignored(name, folder):
    _, before, after = models(name, 17, folder)

    def ignored(model):
        return {(e.attribute, e.note) for e in model.report.entries if e.use == "ignored" and e.physics}

    assert ignored(after) <= ignored(before)
    assert after.report.pairs_without_collider == before.report.pairs_without_collider
