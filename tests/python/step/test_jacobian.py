"""Reference.step_jacobian against differences of the same engine (T50, T51), and where it must be zero.

The differences are of fourth order with h = 1e-6, a hundredth of stiction_tolerance, the shortest scale of
a step: their truncation is (h/1e-4)^4 = 1e-8 of a derivative, their round-off 1e-15/h times how much
stiffness amplifies it. To the control h = 1e-4: a step moves by 1e-5 of it, and that must be more than round-off.
"""

import dataclasses
from itertools import product

import numpy as np
import pytest

import stiction
import tangents
from jacobian_scenes import SCENES, free, world

EXACT = {"solver_tolerance": 1e-14, "max_iterations": 100}
ACCURACY = 1e-6  # of the largest entry of each block of units


def compare(scene, **options):
    """Both Jacobians of the step; asserts that they agree, and returns ours."""
    reference = stiction.Reference(scene.model(), stiction.Options(**EXACT, **options))
    model = reference.model
    qpos, qvel, ctrl = (np.array(x, float) for x in (scene.qpos, scene.qvel, scene.ctrl))
    found = reference.step_jacobian(qpos, qvel, ctrl)
    bad = ~np.uint32(stiction.Status.stalled.value)
    assert not np.uint32(found.step.status) & bad

    def step(q, v, u):
        return reference.step(q, v, u)

    state, to_ctrl = tangents.differences(step, model, qpos, qvel, ctrl, 1e-6, 1e-4)
    nv = model.nv
    blocks = [slice(0, nv), slice(nv, 2 * nv)]
    for rows, columns in product(blocks, blocks):
        expected = state[rows, columns]
        error = np.abs(found.state[rows, columns] - expected).max()
        assert error <= ACCURACY * max(np.abs(expected).max(), 1e-3), (rows, columns, error)
    for rows in blocks if model.nu else []:
        error = np.abs(found.ctrl[rows] - to_ctrl[rows]).max()
        assert error <= ACCURACY * max(np.abs(to_ctrl[rows]).max(), 1e-6), (rows, error)
    return found


@pytest.mark.parametrize("name", SCENES)
def test_against_differences(name):
    compare(SCENES[name])


IN_CONTACT = ["sticking", "sliding", "impact", "box on its edge", "box on box"]
VARIANTS = {
    "similar": {"contact_model": "similar"},
    "sap": {"contact_model": "sap"},
    "friction_iterations": {"friction_iterations": 3},
    "deepest": {"contact_pairs": "penetrating_deepest"},
    "log_barrier": {"normal_law": "log_barrier", "barrier": 0.01},
    "ipc_barrier": {"normal_law": "ipc_barrier", "barrier": 1e3, "barrier_distance": 0.01},
    "midpoint": {"scheme": "midpoint"},
    "explicit_euler": {"scheme": "explicit_euler"},
}


@pytest.mark.parametrize("name", IN_CONTACT)
@pytest.mark.parametrize("variant", VARIANTS)
def test_laws_and_schemes(variant, name):
    scene = SCENES[name]
    if "barrier" in variant:  # from a state that such a law allows
        up = 2e-3 if name == "impact" else 4e-3
        scene = dataclasses.replace(scene, qpos=[*scene.qpos[:2], scene.qpos[2] + up, *scene.qpos[3:]])
    compare(scene, **VARIANTS[variant])


@pytest.mark.parametrize("name", ["flight", "arm", "at its limit"])
@pytest.mark.parametrize("scheme", ["symplectic_euler", "explicit_euler", "midpoint"])
def test_schemes_of_free_motion(scheme, name):
    compare(SCENES[name], scheme=scheme)


def test_anisotropic_friction():
    scene = SCENES["sliding"]
    pair = '<contact><pair geom1="floor" geom2="ball" friction="0.8 0.2"/></contact>'
    xml = scene.xml.replace('type="sphere"', 'name="ball" type="sphere"')
    for velocity in (scene.qvel, SCENES["sticking"].qvel):
        compare(dataclasses.replace(scene, xml=xml.replace("</mujoco>", pair + "</mujoco>"), qvel=velocity))


@pytest.mark.parametrize("law", ["lagged", "similar"])
def test_anchors_are_held(law):
    """The Jacobian of anchored stiction is that at the given anchors."""
    scene = SCENES["sticking"]
    options = stiction.Options(stiction="anchored", contact_model=law, **EXACT)
    reference = stiction.Reference(scene.model(), options)
    model = reference.model
    anchor = np.zeros((model.nanchor, 3))
    anchor[0] = 2e-6, -1e-6, 0
    qpos, qvel = np.array(scene.qpos, float), np.array(scene.qvel)
    state, _ = tangents.differences(
        lambda q, v, u: reference.step(q, v, anchor=anchor), model, qpos, qvel, np.zeros(0), 1e-6, 1e-4
    )
    found = reference.step_jacobian(qpos, qvel, anchor=anchor).state
    assert np.abs(found - state).max() <= ACCURACY * np.abs(state).max()
    assert np.abs(found - reference.step_jacobian(qpos, qvel).state).max() > 1e-3  # they matter


@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
@pytest.mark.parametrize("name", ["sticking", "sliding", "box on box"])
def test_friction(name, law):
    """d/d mu of each pair: against models whose geoms have another coefficient."""
    scene = SCENES[name]
    options = stiction.Options(contact_model=law, friction_iterations=1, **EXACT)
    model = scene.model()
    found = stiction.Reference(model, options).step_jacobian(scene.qpos, scene.qvel)

    def end(mu):
        changed = model
        for g in range(model.ngeom):
            k, d = model.geom_stiffness[g], model.geom_dissipation[g]
            changed = changed.with_contact_material(g, stiffness=k, dissipation=d, friction=mu)
        s = stiction.Reference(changed, options).step(scene.qpos, scene.qvel)
        return np.concatenate([tangents.subtract(model, s.qpos, found.step.qpos), s.qvel])

    h = 1e-4
    expected = (8 * (end(0.6 + h) - end(0.6 - h)) - (end(0.6 + 2 * h) - end(0.6 - 2 * h))) / (12 * h)
    assert np.abs(found.friction[:, 0] - expected).max() <= ACCURACY * np.abs(expected).max() + 1e-12
    # stuck, R_t knows no mu; at the first touch Lagged has no friction
    assert np.any(expected) == ((name, law) not in (("sticking", "sap"), ("box on box", "lagged")))


def test_nothing_is_felt_at_a_distance_but_with_a_barrier():
    """A hand above a ball: pushing down moves the ball only if the law acts before they touch."""
    xml = world(
        free('name="ball" type="sphere" size="0.05"'),
        '<actuator><motor joint="z"/></actuator>',
    ).replace("</worldbody>", """<body pos="0 0 0.2"><joint name="z" type="slide" axis="0 0 1"/>
        <geom type="sphere" size="0.03" mass="1"/></body></worldbody>""")
    model = stiction.Model.from_xml(xml)
    hand, ball = model.jnt_dofadr[1], slice(0, 6)
    qpos = np.array([0, 0, 0.0501, 1, 0, 0, 0, 0.0])
    for law, felt in (("hunt_crossley", False), ("ipc_barrier", False), ("log_barrier", True)):
        reference = stiction.Reference(model, stiction.Options(normal_law=law))
        j = reference.step_jacobian(qpos, np.zeros(7), [0.0])
        to_hand = np.concatenate([j.ctrl[ball, 0], j.ctrl[7:13, 0], j.state[7:13, hand]])
        assert (np.abs(to_hand).max() > 1e-7) == felt
        if not felt:
            assert not np.any(to_hand)  # exactly


def test_of_a_frozen_step():
    scene = SCENES["sliding"]
    j = stiction.Reference(scene.model()).step_jacobian(scene.qpos, [2e8, 0, 0, 0, 0, 0])
    assert j.step.status & stiction.Status.velocity_limit
    np.testing.assert_array_equal(j.state, np.eye(12))
    assert not np.any(j.friction)


def test_is_that_of_the_exact_minimum():
    """A loose solver_tolerance changes the step, not what is differentiated."""
    scene = SCENES["box on its edge"]
    loose, exact = (
        stiction.Reference(scene.model(), stiction.Options(solver_tolerance=t)).step_jacobian(
            scene.qpos, scene.qvel)
        for t in (1e-2, 1e-14)
    )  # fmt: skip
    np.testing.assert_array_equal(loose.state, exact.state)


def test_wrong_arguments():
    reference = stiction.Reference(SCENES["sliding"].model())
    with pytest.raises(stiction.ArgumentError, match="qpos"):
        reference.step_jacobian(np.zeros(6), np.zeros(6))
    with pytest.raises(stiction.ArgumentError, match="finite"):
        reference.step_jacobian([0, 0, 0, 1, 0, 0, 0], [np.nan] * 6)
