"""The Python names: shapes, read-only views, lifetimes, arguments and errors."""

import ast
import gc
import pickle
import re
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import stiction
from robots import PENDULUM, QUADRUPED, SPHERE

SHAPE = re.compile(r"\(([^)]*)\)")


def arrays(obj):
    """(name, array, documented shape) of every array property; the docstring starts with it."""
    for name in dir(type(obj)):
        value = None if name.startswith("_") else getattr(obj, name)
        if isinstance(value, np.ndarray):
            doc = getattr(type(obj), name).__doc__
            assert SHAPE.match(doc), f"{name}: docstring does not start with a shape: {doc!r}"
            symbols = SHAPE.match(doc)[1].replace(" ", "").strip(",").split(",")
            yield name, value, symbols


def documented_shape(symbols, sizes):
    return tuple(int(s) if s.isdigit() else sizes[s] for s in symbols)


def sizes_of(model, **more):
    names = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "nmocap", "nkey", "ntendon",
             "npair", "nslot", "nsensor", "nsensordata", "neq", "nanchor", "nrebound", "nmesh", "nhfield", "ncam")  # fmt: skip
    return {n: getattr(model, n) for n in names} | {"nwrap": model.wrap_coef.size, "6neq": 6 * model.neq, "nv+ntendon": model.nv + model.ntendon,
            "ngeommesh": len(model.geom_mesh), "nmeshvert": len(model.mesh_vert), "nmeshface": len(model.mesh_face), "nmeshpoly": len(model.mesh_polynormal), "nmeshpolyvert": len(model.mesh_polyvert), "nmeshpolymap": len(model.mesh_polymap), "nhfielddata": len(model.hfield_data)} | more  # fmt: skip


# --------------------------------------------------------------------------------- Model


def test_model_arrays_have_the_documented_shapes(quadruped):
    sizes = sizes_of(quadruped)
    assert (sizes["nq"], sizes["nv"], sizes["nu"], sizes["nbody"]) == (19, 18, 12, 14)
    seen = 0
    for name, array, symbols in arrays(quadruped):
        assert array.shape == documented_shape(symbols, sizes), name
        seen += 1
    assert seen > 70


def test_model_arrays_equal_mujocos(quadruped):
    """Catches a property bound to the wrong field."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(QUADRUPED))
    compared = 0
    for name, array, _ in arrays(quadruped):
        # rbound of a plane: theirs is the visible half size; inertia: the order of axes is free;
        # gravity is theirs under opt; invweight0 is only estimated by both.
        if not hasattr(theirs, name) or name in ("body_inertia", "body_iquat"):
            continue
        other = np.asarray(getattr(theirs, name)).reshape(-1)
        if array.size == other.size:
            # 1e-9: both compute derived quantities in double from six-digit numbers
            np.testing.assert_allclose(array.reshape(-1), other, rtol=1e-9, atol=1e-9, err_msg=name)
            compared += 1
    assert compared > 45


def test_model_arrays_are_read_only(quadruped):
    for name, array, _ in arrays(quadruped):
        assert not array.flags.writeable, name
    with pytest.raises(ValueError, match="read-only"):
        quadruped.qpos0[0] = 1.0


def test_model_arrays_are_views(quadruped):
    address = quadruped.body_pos.__array_interface__["data"][0]
    assert quadruped.body_pos.__array_interface__["data"][0] == address


def test_array_outlives_the_model():
    model = stiction.Model.from_xml(PENDULUM)
    alive = weakref.ref(model)
    array = model.body_pos
    expected = array.copy()
    del model
    gc.collect()
    assert alive() is not None, "the array must own its model"
    filler = [stiction.Model.from_xml(SPHERE) for _ in range(20)]
    np.testing.assert_array_equal(array, expected)
    del array, filler
    gc.collect()
    assert alive() is None, "the model must go with its last array"


def test_result_array_outlives_the_result(pendulum):
    qpos = stiction.Reference(pendulum).step([0.3], [0.0]).qpos
    expected = qpos.copy()
    for _ in range(20):
        stiction.Reference(pendulum).step([0.5], [0.0])
    np.testing.assert_array_equal(qpos, expected)


def test_names_and_lookups(quadruped):
    assert quadruped.body_names[:3] == ("world", "torso", "FL_hip")
    assert quadruped.jnt_names[0] == "root"
    assert quadruped.body("torso") == 1
    assert quadruped.joint("FL_knee") == quadruped.jnt_names.index("FL_knee")
    assert quadruped.geom("RR_foot") == quadruped.geom_names.index("RR_foot")
    assert quadruped.site("imu") == 0
    assert quadruped.actuator("FR_thigh") == 4
    np.testing.assert_array_equal(quadruped.key_qpos[quadruped.key("home")][:3], [0, 0, 0.3007])
    with pytest.raises(stiction.ArgumentError, match="FL_foot"):
        quadruped.geom("FL_foott")


def test_enums(quadruped):
    assert quadruped.jnt_type[0] == stiction.JointType.free
    assert quadruped.geom_type[quadruped.geom("torso")] == stiction.GeomType.box
    assert (quadruped.actuator_trntype == stiction.Transmission.joint).all()
    assert repr(stiction.Status(96)) == "<Status.stalled|late_contact: 96>"


def test_model_text_and_scalars(quadruped):
    assert quadruped.timestep == 0.002
    np.testing.assert_array_equal(quadruped.gravity, [0, 0, -9.81])
    assert quadruped.name == "quadruped" and quadruped.file.endswith("quadruped.xml")
    assert repr(quadruped).startswith("<stiction.Model 'quadruped' nq=19 nv=18 nu=12")


def test_packaged_quadruped_is_read_completely(quadruped):
    assert quadruped.report.complete, quadruped.report.table()


def test_path_types(sphere_file):
    assert stiction.Model.from_file(str(sphere_file)).ngeom == 2
    assert stiction.Model.from_file(sphere_file).ngeom == 2


def test_includes_of_text_are_found_in_the_directory(tmp_path):
    (tmp_path / "floor.xml").write_text(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    text = '<mujoco><include file="floor.xml"/></mujoco>'
    assert stiction.Model.from_xml(text, directory=tmp_path).geom_names == ("floor",)
    with pytest.raises(stiction.ModelError, match=r"floor\.xml"):
        stiction.Model.from_xml(text)


def test_bad_model_names_place_and_value():
    bad = SPHERE.replace('mass="1"', 'mass="-1"')
    with pytest.raises(stiction.ModelError, match="mass") as caught:
        stiction.Model.from_xml(bad)
    assert "-1" in str(caught.value) and isinstance(caught.value, stiction.Error)
    with pytest.raises(stiction.ModelError):
        stiction.Model.from_file("/nowhere/robot.xml")


@pytest.mark.filterwarnings("ignore::stiction.ModelWarning")
def test_strict_refuses_ignored_physics_and_keeps_the_report():
    belt = SPHERE.replace('name="floor"', 'name="floor" adhesion="1.2"', 1)
    report = stiction.Model.from_xml(belt).report
    ignored = [e for e in report.entries if e.use == "ignored" and e.physics]
    assert any(e.attribute == "adhesion" and e.value == "1.2" and e.line == 4 for e in ignored)
    assert report.count("ignored") >= 1 and not report.complete
    assert "adhesion" in report.table() and str(report) == report.table()
    with pytest.raises(stiction.ModelError) as caught:
        stiction.Model.from_xml(belt, strict=True)
    assert any(e.attribute == "adhesion" for e in caught.value.report.entries)
    with pytest.raises(stiction.ArgumentError, match="'mapped'"):
        report.count("nonsense")


HILLS = '<asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>'

@pytest.mark.filterwarnings("ignore::stiction.ModelWarning")
def test_pairs_without_collider_are_reported():
    hills = SPHERE.replace("<worldbody>", HILLS + "<worldbody>", 1).replace(
        'type="plane" size="1 1 1"', 'type="hfield" hfield="h"')
    (missing,) = stiction.Model.from_xml(hills).report.pairs_without_collider
    assert (missing.type1, missing.type2) == ("hfield", "sphere")
    assert "floor" in missing.name1 and "ball" in missing.name2


# --------------------------------------------------------------------------------- material


@pytest.mark.parametrize("geom", ["ball", 1, None])
def test_contact_material(sphere, geom):
    before = sphere.pair_stiffness.copy()
    changed = sphere.with_contact_material(geom, stiffness=1e5, dissipation=10.0, friction=0.5)
    g = changed.geom("ball")
    assert changed.geom_native[g] == 1 and changed.geom_stiffness[g] == 1e5
    assert changed.geom_friction[g, 0] == 0.5 and changed.geom_dissipation[g] == 10.0
    assert changed.pair_stiffness[0] != before[0]
    np.testing.assert_array_equal(sphere.pair_stiffness, before)
    assert changed.report is not None and changed.geom_names == sphere.geom_names


@pytest.mark.parametrize("geom", [-1, 2, "nothing"])
def test_contact_material_of_an_unknown_geom(sphere, geom):
    with pytest.raises(stiction.ArgumentError, match=str(geom)):
        sphere.with_contact_material(geom, stiffness=1e5)


@pytest.mark.parametrize("values", [{"stiffness": -1.0}, {"stiffness": 1e5, "dissipation": -1.0},
                                    {"stiffness": 1e5, "friction": float("nan")}])  # fmt: skip
def test_unphysical_contact_material(sphere, values):
    with pytest.raises(stiction.ArgumentError):
        sphere.with_contact_material("ball", **values)


# --------------------------------------------------------------------------------- Options

DEFAULTS = {
    "timestep": None,
    "contact_model": "lagged",
    "stiction": "regularized", "stiction_tolerance": 1e-4,  # fmt: skip
    "regularization": 1e-3, "near_rigid": 1.0,  # fmt: skip
    "solver_tolerance": None, "max_iterations": 32, "friction_iterations": "auto", "friction_tolerance": None,  # fmt: skip
    "contact_pairs": "speculative", "limits": "auto", "gyroscopic": "auto",  # fmt: skip
    "friction_combination": "mujoco", "linear_solver": "cholesky", "mocap_velocity": "difference",  # fmt: skip
    "scheme": "implicit_euler", "normal_law": "hunt_crossley", "barrier": None, "barrier_distance": 1e-3,  # fmt: skip
}
OTHERS = {
    "timestep": 0.01,
    "contact_model": "sap",
    "stiction": "anchored", "stiction_tolerance": 1e-3,  # fmt: skip
    "regularization": 2e-3, "near_rigid": 0.0,  # fmt: skip
    "solver_tolerance": 1e-8,
    "max_iterations": 7, "friction_iterations": "fixed_point", "friction_tolerance": 1e-3,  # fmt: skip
    "contact_pairs": "penetrating_deepest", "limits": "near_rigid", "gyroscopic": "midpoint",  # fmt: skip
    "friction_combination": "harmonic", "linear_solver": "cusolver", "mocap_velocity": "given",  # fmt: skip
    "scheme": "midpoint", "normal_law": "ipc_barrier", "barrier": 5e3, "barrier_distance": 2e-4,  # fmt: skip
}


def test_option_defaults():
    options = stiction.Options()
    assert {name: getattr(options, name) for name in DEFAULTS} == DEFAULTS
    assert {n for n in dir(options) if n[0] != "_" and not callable(getattr(options, n))} == set(DEFAULTS) == set(OTHERS)


@pytest.mark.parametrize("name", OTHERS)
def test_each_option_is_kept_and_compared(name):
    changed = stiction.Options(**{name: OTHERS[name]})
    assert getattr(changed, name) == OTHERS[name]
    assert changed != stiction.Options()
    assert changed == stiction.Options().replace(**{name: OTHERS[name]})
    assert hash(changed) == hash(stiction.Options(**{name: OTHERS[name]}))


def test_options_round_trips():
    options = stiction.Options(**OTHERS)
    assert eval(repr(options), {"Options": stiction.Options}) == options
    assert pickle.loads(pickle.dumps(options)) == options
    assert options.replace(**DEFAULTS) == stiction.Options()
    assert options != "lagged"
    with pytest.raises(AttributeError):  # immutable
        options.timestep = 0.1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("contact_model", "rigid", "'lagged', 'similar', 'sap'"),
        ("stiction", "none", "'regularized', 'anchored'"),
        ("contact_pairs", "all", "'speculative', 'penetrating_deepest'"),
        ("friction_combination", "min", "'mujoco', 'harmonic'"),
        ("gyroscopic", "none", "'auto', 'midpoint', 'explicit_euler'"),
        ("linear_solver", "lu", "'cholesky', 'cusolver'"),
        ("timestep", 0.0, "> 0"),
        ("timestep", float("nan"), "> 0"),
        ("stiction_tolerance", -1.0, "> 0"),
        ("solver_tolerance", 2.0, r"\[0, 1\)"),
        ("max_iterations", -1, "max_iterations = -1"),
        ("friction_tolerance", 0.0, r"\(0, 1\)"),
    ],
)
def test_option_out_of_range(name, value, said):
    with pytest.raises(stiction.ArgumentError, match=said) as caught:
        stiction.Options(**{name: value})
    assert name in str(caught.value) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("name", "value", "said"), [
    ("time_step", 0.1, "no field 'time_step'.*'timestep'"), ("timestep", "fast", r"given 'fast'; expected float \| None"),
    ("max_iterations", 1.5, "expected int"), ("stiction", 1, "Literal"), ("friction_iterations", [3], "'fixed_point'"),
])  # fmt: skip
def test_option_of_another_name_or_type(name, value, said):
    with pytest.raises(TypeError, match=said):
        stiction.Options().replace(**{name: value})


# --------------------------------------------------------------------------------- Reference


def test_reference_resolves_defaults(quadruped):
    reference = stiction.Reference(quadruped, stiction.Options(contact_model="similar"))
    assert reference.model is quadruped
    assert reference.options.contact_model == "similar"
    assert reference.options.timestep == 0.002
    assert reference.options.solver_tolerance == 1e-6


def test_forward_arrays_have_the_documented_shapes(reference, tumbling):
    result = reference.forward(*tumbling)
    sizes = sizes_of(reference.model)
    names = [n for n, array, symbols in arrays(result)
             if array.shape == documented_shape(symbols, sizes)]  # fmt: skip
    assert names == [n for n, _, _ in arrays(result)] and len(names) == 30


def test_step_arrays_have_the_documented_shapes(reference, home):
    result = reference.step(*home)
    sizes = sizes_of(reference.model)
    for name, array, symbols in arrays(result):
        assert array.shape == documented_shape(symbols, sizes), name
        assert array.dtype == np.float64 and array.flags.writeable


def test_forward_equals_mujoco(reference, tumbling, home):
    """Catches a result bound to the wrong field; the physics has its own tests."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(QUADRUPED))
    data = mujoco.MjData(theirs)
    data.qpos, data.qvel = tumbling
    data.ctrl = home[2]
    mujoco.mj_forward(theirs, data)
    mujoco.mj_subtreeVel(theirs, data)
    dense = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, dense)
    ours = reference.forward(*tumbling, home[2])
    np.testing.assert_allclose(ours.M, dense, rtol=1e-9, atol=1e-12)
    for name in ("xpos", "xquat", "xipos", "xanchor", "xaxis", "geom_xpos", "geom_xmat",
                 "site_xpos", "site_xmat", "subtree_com", "qfrc_bias", "qfrc_spring",
                 "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid", "qfrc_passive", "actuator_length",
                 "actuator_velocity", "actuator_force", "qfrc_actuator"):  # fmt: skip
        # 1e-9 relative to the largest entry: two implementations in double
        other = np.asarray(getattr(data, name)).reshape(getattr(ours, name).shape)
        scale = max(1.0, np.abs(other).max())
        np.testing.assert_allclose(getattr(ours, name), other, atol=1e-9 * scale, err_msg=name)


def test_resting_sphere(sphere):
    reference = stiction.Reference(sphere)
    result = reference.step(reference.rollout(sphere.qpos0, np.zeros(6), nstep=2000).qpos[-1],
                            np.zeros(6))  # fmt: skip
    assert result.status == stiction.Status.ok and isinstance(result.status, stiction.Status)
    (contact,) = result.contacts
    assert (contact.geom1, contact.geom2, contact.pair, contact.slot) == (0, 1, 0, 0)
    np.testing.assert_array_equal(contact.normal, [0, 0, 1])
    # 1e-3: a millimetre-deep contact at rest still creeps by the solver's tolerance
    np.testing.assert_allclose(contact.impulse, [0, 0, 9.81 * 0.002], rtol=1e-3, atol=1e-8)
    np.testing.assert_allclose(result.xfrc_contact[1, :3], [0, 0, 9.81], rtol=1e-3, atol=1e-6)
    assert contact.gap < 0 and contact.stiffness > 0 and contact.friction == 1.0
    assert contact.pos.shape == contact.slip.shape == (3,)
    assert result.residual <= reference.options.solver_tolerance
    assert "iterations=" in repr(result) and "gap=" in repr(contact)


def test_inputs_are_converted(reference, home):
    qpos, qvel, ctrl = home
    wide = np.zeros((len(qpos), 2))
    wide[:, 0] = qpos
    expected = reference.step(qpos, qvel, ctrl)
    forms = {
        "list": (list(qpos), list(qvel), list(ctrl)),
        "strided": (wide[:, 0], qvel, ctrl),
        "integers": (qpos, np.zeros(len(qvel), int), ctrl),
        "big endian": (qpos.astype(">f8"), qvel, ctrl),
    }
    for name, given in forms.items():
        result = reference.step(*given)
        assert result.qvel.tobytes() == expected.qvel.tobytes(), name
    single = reference.step(qpos.astype(np.float32), qvel, ctrl)
    rounded = reference.step(qpos.astype(np.float32).astype(np.float64), qvel, ctrl)
    assert single.qvel.tobytes() == rounded.qvel.tobytes()


def test_applied_forces_reach_the_engine(pendulum):
    reference = stiction.Reference(pendulum)
    still = reference.step([0.0], [0.0]).qvel[0]
    wrench = np.zeros((2, 6))
    wrench[1, 4] = 1.0
    by_torque = reference.step([0.0], [0.0], qfrc_applied=[1.0]).qvel[0]
    by_wrench = reference.step([0.0], [0.0], xfrc_applied=np.asfortranarray(wrench)).qvel[0]
    by_motor = reference.step([0.0], [0.0], [1.0]).qvel[0]
    assert still == 0.0 and by_torque > 0.0
    # 1e-12: the same torque about the hinge by three routes
    np.testing.assert_allclose([by_wrench, by_motor], by_torque, rtol=1e-12)


@pytest.mark.parametrize("method", ["forward", "step", "rollout"])
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("qpos", np.zeros(18), r"qpos: given shape \(18,\); expected shape \(19,\) = \(nq,\)"),
        ("qvel", np.zeros((18, 1)), r"qvel: given shape \(18, 1\); expected shape \(18,\) = "),
        ("ctrl", np.zeros(3), r"ctrl: given shape \(3,\); expected shape \(12,\) = \(nu,\)"),
        ("qpos", np.zeros(19, complex), r"qpos: given dtype complex128 of shape \(19,\)"),
        ("qpos", ["a"] * 19, "qpos: given dtype <U1"),
        ("qpos", [[1.0], [1.0, 2.0]], "qpos: not an array"),
        ("qfrc_applied", np.zeros(19), r"qfrc_applied: .* expected shape \(18,\) = \(nv,\)"),
        ("xfrc_applied", np.zeros(84), r"xfrc_applied: .* expected shape \(14, 6\)"),
        ("mocap_pos", np.zeros((1, 3)), r"mocap_pos: .* expected shape \(0, 3\)"),
        ("mocap_quat", np.zeros((1, 4)), r"mocap_quat: .* expected shape \(0, 4\)"),
        ("anchor", np.zeros(3), r"anchor: given shape \(3,\); expected shape"),
    ],
)
def test_wrong_arguments_are_named(reference, home, method, name, value, said):
    arguments = dict(zip(("qpos", "qvel", "ctrl"), home)) | {name: value}
    if method == "rollout":
        arguments["nstep"] = 2
    with pytest.raises(stiction.ArgumentError, match=said):
        getattr(reference, method)(**arguments)


@pytest.mark.parametrize("method", ["forward", "step"])
@pytest.mark.parametrize("argument", [0, 1])
def test_a_state_that_is_not_finite_is_refused(reference, home, method, argument):
    given = [x.copy() for x in home]
    given[argument][2] = np.nan
    with pytest.raises(stiction.ArgumentError, match=f"{('qpos', 'qvel')[argument]}.*nan"):
        getattr(reference, method)(*given)


def test_bad_controls_count_as_zero(reference, home):
    qpos, qvel, ctrl = home
    bad, zero = ctrl.copy(), ctrl.copy()
    bad[3], zero[3] = np.inf, 0.0
    result = reference.step(qpos, qvel, bad)
    assert result.status == stiction.Status.bad_control
    assert result.qvel.tobytes() == reference.step(qpos, qvel, zero).qvel.tobytes()


def test_a_state_that_ran_away_is_kept(reference, home):
    qpos, qvel, ctrl = home
    fast = qvel.copy()
    fast[0] = 1e9
    result = reference.step(qpos, fast, ctrl)
    assert stiction.Status.velocity_limit in result.status
    np.testing.assert_array_equal(result.qpos, qpos)
    np.testing.assert_array_equal(result.qvel, fast)


# --------------------------------------------------------------------------------- the package


def test_import_is_light_and_needs_numpy_only():
    """Counted in modules besides numpy's, which no other load on the machine changes."""
    code = """
import sys, numpy
before = set(sys.modules)
import stiction
loaded = set(sys.modules) - before
packages = {m.split(".")[0] for m in loaded
            if "site-packages" in (getattr(sys.modules[m], "__file__", None) or "")}
print(len([m for m in loaded if m.split(".")[0] != "stiction"]), *packages)
"""
    count, *packages = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                      check=True).stdout.split()  # fmt: skip
    assert set(packages) <= {"numpy", "stiction"}
    assert int(count) < 60, f"{count} modules"


def test_stub_names_everything():
    stub = Path(stiction._core.__file__).with_name("_core.pyi")
    names = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef):
            members = {getattr(n, "name", None) for n in node.body}
            members |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            names[node.name] = members
    for name in stiction.__all__:
        cls = getattr(stiction, name)
        if getattr(cls, "__module__", None) != "stiction":
            continue  # Python's own, and the version
        missing = {m for m in vars(cls) if not m.startswith("_")} - names[name]
        assert issubclass(cls, int) or not missing, (name, missing)
    assert Path(stiction.__file__).with_name("py.typed").is_file()


def test_everything_has_a_docstring():
    for name in stiction.__all__:
        if name != "__version__":
            assert getattr(stiction, name).__doc__, name
    for method in ("forward", "step", "rollout"):
        assert "qpos" in getattr(stiction.Reference, method).__doc__ or method == "rollout"


def test_public_names_say_stiction():
    assert stiction.Model.__module__ == "stiction"
    assert str(stiction.ArgumentError) == "<class 'stiction.ArgumentError'>"
    assert re.fullmatch(r"\d+\.\d+\.\d+", stiction.__version__)
