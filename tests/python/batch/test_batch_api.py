"""The Python names of Batch: arrays over its memory, states, choice of environments, errors."""

import gc
import sys
import weakref

import numpy as np
import pytest

import stiction

N = 5


@pytest.fixture
def batch(quadruped):
    return stiction.Batch(quadruped, num_envs=N, threads=1)


def test_construction_and_repr(quadruped, batch):
    assert batch.model is quadruped and batch.num_envs == len(batch) == N
    assert (batch.device, batch.precision, batch.threads) == ("cpu", "float32", 1)
    assert batch.lanes >= 1 and batch.isa
    assert batch.options.solver_tolerance == 1e-4
    assert batch.options.timestep == quadruped.timestep
    for part in ("quadruped", f"num_envs={N}", "float32", f"isa={batch.isa}"):
        assert part in repr(batch)
    double = stiction.Batch(quadruped, precision="float64", threads=1)
    assert double.num_envs == 1 and double.options.solver_tolerance == 1e-6
    memory = batch.memory
    assert memory.total >= N * memory.per_env > 0 and memory.per_thread > 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(num_envs=0), "num_envs"),
        (dict(num_envs=-1), "num_envs"),
        (dict(device="tpu"), "tpu"),
        (dict(precision="float16"), "float16"),
        (dict(threads=0), "threads"),
    ],
)
def test_bad_construction(quadruped, arguments, words):
    with pytest.raises(stiction.ArgumentError, match=words):
        stiction.Batch(quadruped, **arguments)


def test_every_field_is_an_attribute(batch):
    kinds = {f.name: f for f in batch.fields()}
    assert {"qpos", "qvel", "ctrl", "xpos", "qacc", "body_mass"} <= kinds.keys()
    for name, f in kinds.items():
        if f.kind == "param":
            continue
        array = getattr(batch, name)
        assert isinstance(array, np.ndarray) and array.shape[0] == N, name
        assert array.size == N * f.rows * f.columns, name
        assert array.dtype == (np.float64 if f.wide else np.float32), name
        assert array.flags.c_contiguous and array.flags.writeable == (f.kind in ("state", "input")), name
        assert getattr(type(batch), name).__doc__ == f"{f.kind}: {f.meaning}"
    m = batch.model
    assert batch.qpos.shape == (N, m.nq) and batch.qvel.shape == (N, m.nv)
    assert batch.xpos.shape == (N, m.nbody, 3) and batch.time.shape == (N,)
    assert batch.status.dtype == np.uint32 and batch.status.shape == (N,)
    assert batch.status_step.dtype == np.int32 and (batch.status_step == -1).all()
    assert not batch.status.flags.writeable and not batch.status_step.flags.writeable


def test_double_precision_has_double_fields(quadruped):
    batch = stiction.Batch(quadruped, num_envs=2, precision="float64", threads=1)
    assert batch.qvel.dtype == batch.ctrl.dtype == batch.qacc.dtype == np.float64


def test_arrays_are_the_memory_of_the_batch(batch):
    assert np.shares_memory(batch.ctrl, batch.ctrl)
    held = batch.ctrl
    held[2] = 0.25
    assert (batch.ctrl[2] == 0.25).all() and not batch.ctrl[1].any()
    qpos, time, before = batch.qpos, batch.time, batch.qpos.copy()
    batch.step(2)
    assert qpos is not before and not np.array_equal(qpos, before), "the view follows the steps"
    np.testing.assert_allclose(time, 2 * batch.options.timestep, rtol=1e-12)
    assert np.shares_memory(np.from_dlpack(batch.qpos), batch.qpos)


def test_arrays_keep_the_batch_alive(quadruped):
    batch = stiction.Batch(quadruped, num_envs=3, threads=1)
    alive, qpos, mass = weakref.ref(batch), batch.qpos, batch.param("body_mass")
    expected = qpos.copy()
    del batch
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(qpos, expected)
    del qpos, mass
    gc.collect()
    assert alive() is None


def test_arrays_do_not_leak(batch):
    references = sys.getrefcount(batch)
    for _ in range(100):
        batch.qpos, batch.get_state(), batch.contacts(0)
    assert sys.getrefcount(batch) == references


def test_assignment(batch):
    nu = batch.model.nu
    view, values = batch.ctrl, np.arange(N * nu).reshape(N, nu)
    batch.ctrl = values
    np.testing.assert_array_equal(view, values)
    batch.ctrl *= 2
    np.testing.assert_array_equal(view, 2 * values)
    batch.ctrl[:] = 0.5
    assert (view == 0.5).all()


@pytest.mark.parametrize("value", [0.5, np.zeros(12), np.zeros((N, 11)), np.zeros((N, 12), complex)])
def test_assignment_of_another_shape_or_type(batch, value):
    with pytest.raises(stiction.ArgumentError, match=r"batch.ctrl: given .* expected .*\(5, 12\)"):
        batch.ctrl = value


def test_lists_whose_rows_differ_in_length(batch):
    ragged, reference = [[1.0, 2.0], [3.0]], stiction.Reference(batch.model)
    q, v = batch.model.qpos0, np.zeros(batch.model.nv)
    for name, call in {
        "qpos": lambda: batch.reset(qpos=ragged),
        "qvel": lambda: batch.set_state(qvel=ragged),
        "batch.ctrl": lambda: setattr(batch, "ctrl", ragged),
        "ids": lambda: batch.reset(ids=ragged),
        "origins": lambda: batch.raycast(ragged, [0, 0, 1]),
        "point": lambda: batch.jac(1, ragged),
        "qacc": lambda: batch.inverse(ragged),
        "qpos ": lambda: reference.step(ragged, v),
        "ctrl": lambda: reference.rollout(q, v, ragged),
        "seed": lambda: stiction.Env("Ant-v5", 2).reset(seed=ragged),
        "actions": lambda: stiction.Env("Ant-v5", 2).step(ragged),
    }.items():
        with pytest.raises(stiction.ArgumentError, match=f"^{name.strip()}: not an array: lists in it differ in length"):
            call()


def test_outputs_are_read_only(batch):
    with pytest.raises(ValueError):
        batch.xpos[0] = 0
    with pytest.raises(AttributeError):
        batch.xpos = np.zeros((N, batch.model.nbody, 3))
    with pytest.raises(AttributeError):
        batch.qpose = 0
    with pytest.raises(AttributeError):
        _ = batch.qpose


# --------------------------------------------------------------------------------- states


def test_state_there_and_back(batch, home):
    batch.ctrl[:] = home[2]
    batch.step(3)
    state, hash_ = batch.get_state(), batch.state_hash()
    assert set(state) == {"qpos", "qvel", "act", "time", "anchor", "friction_anchor", "rebound", "body_airtime",
                          "qacc_warmstart", "mocap_xpos", "mocap_xquat", "mocap_xvel"}
    np.testing.assert_array_equal(state["qpos"], batch.qpos)
    assert state["qvel"].dtype == np.float64 and state["time"].shape == (N,)
    batch.step(2)
    assert batch.state_hash() != hash_
    batch.set_state(**state)
    assert batch.state_hash() == hash_
    assert not np.shares_memory(state["qpos"], batch.qpos)


def test_set_state_of_some(batch, home):
    batch.set_state([3, 1], qpos=np.stack([home[0], home[0] + 0.0]), qvel=np.ones(batch.model.nv))
    np.testing.assert_array_equal(batch.qpos[[1, 3]], [home[0]] * 2)
    assert (batch.qvel[[1, 3]] == 1).all() and not batch.qvel[[0, 2, 4]].any()
    np.testing.assert_array_equal(batch.get_state([3])["qvel"], np.ones((1, batch.model.nv)))
    mask = np.array([True, False, False, False, True])
    batch.set_state(mask, time=np.array([2.0, 3.0]))
    np.testing.assert_array_equal(batch.time, [2, 0, 0, 0, 3])


def test_set_state_refreshes(batch, home):
    qpos = home[0].copy()
    qpos[:3] = (1, 2, 3)
    batch.set_state(2, qpos=qpos)
    np.testing.assert_allclose(batch.xpos[2, 1], qpos[:3])


@pytest.mark.parametrize(
    "ids, state, words",
    [
        (None, {}, "nothing to set"),
        (None, dict(qpos=np.zeros(3)), r"qpos: given .*\(3,\).*\(5, 19\).*\(19,\)"),
        ([0], dict(qvel=np.zeros((2, 18))), r"qvel: .*\(1, 18\)"),
        ([0], dict(qvel=["a"] * 18), "qvel: given dtype"),
        ([0], dict(qvel=np.full(18, np.nan)), r"qvel\[0, 0\] = nan"),
        ([5], dict(time=0.0), r"environment 5.*\[0, 5\)"),
        ([-1], dict(time=0.0), "environment -1"),
        ([0.5], dict(time=0.0), "indices of environments"),
        ([True, False], dict(time=0.0), r"mask \(5,\)"),
        ([0], dict(velocity=0.0), "velocity.*known are qpos, qvel"),
    ],
)
def test_bad_states(batch, ids, state, words):
    hash_ = batch.state_hash()
    with pytest.raises(stiction.ArgumentError, match=words):
        batch.set_state(ids, **state)
    assert batch.state_hash() == hash_


def test_reset(batch, home):
    batch.ctrl[:] = home[2]
    start = batch.qpos.copy()
    batch.step(2)
    moved = batch.qpos.copy()
    batch.reset(np.arange(N) < 2)
    np.testing.assert_array_equal(batch.qpos[:2], start[:2])
    np.testing.assert_array_equal(batch.qpos[2:], moved[2:])
    assert not batch.ctrl[:2].any() and not batch.time[:2].any() and batch.ctrl[2:].any()
    batch.reset([4], qpos=home[0])
    np.testing.assert_array_equal(batch.qpos[4], home[0])
    batch.reset()
    np.testing.assert_array_equal(batch.qpos, start)
    batch.reset([])
    np.testing.assert_array_equal(batch.qpos, start)


def test_copy(batch, home):
    batch.set_state([0], qpos=home[0], qvel=np.full(batch.model.nv, 0.1))
    batch.copy([0, 0], [1, 4])
    for k in (1, 4):
        np.testing.assert_array_equal(batch.qpos[k], batch.qpos[0])
        np.testing.assert_array_equal(batch.qvel[k], batch.qvel[0])
    assert not batch.qvel[2].any()
    with pytest.raises(stiction.ArgumentError):
        batch.copy([0], [1, 2])


# --------------------------------------------------------------------------------- parameters


def test_own_numbers_act_where_the_model_has_none(pendulum):
    """Dry friction and servo gains of a model without either."""
    b = stiction.Batch(pendulum, num_envs=2)
    b.set_state(qpos=np.zeros((2, 1)), qvel=np.ones((2, 1)))
    b.param("dof_frictionloss")[1] = 50.0
    b.step(20)
    assert abs(b.qvel[0, 0]) > 0.5 and abs(b.qvel[1, 0]) < 1e-2
    b.set_state(qpos=np.zeros((2, 1)), qvel=np.zeros((2, 1)))
    b.param("dof_frictionloss")[:] = 0
    b.param("actuator_gain")[1, 0] = [100.0, 0, 0]
    b.param("actuator_bias")[1, 0] = [0, -100.0, -20.0]
    b.ctrl[:] = 0.5
    b.step(2000)
    assert abs(b.qpos[1, 0] - 0.5) < 0.05 < abs(b.qpos[0, 0] - 0.5)


def test_own_orientation_of_a_body_that_the_model_aligns(pendulum):
    b = stiction.Batch(pendulum, num_envs=2)
    np.testing.assert_array_equal(b.xquat[:, 1], [[1, 0, 0, 0]] * 2)
    b.param("body_quat")[1, 1] = [0.8, 0, 0, 0.6]
    b.refresh()
    np.testing.assert_allclose(b.xquat[:, 1], [[1, 0, 0, 0], [0.8, 0, 0, 0.6]], atol=1e-15)


def test_params(batch):
    assert not batch.param_is_own("body_mass")
    mass = batch.param("body_mass")
    assert batch.param_is_own("body_mass") and not batch.param_is_own("geom_friction")
    np.testing.assert_allclose(mass, np.tile(batch.model.body_mass, (N, 1)), rtol=1e-7)
    mass[:, 1] *= 2
    assert np.shares_memory(mass, batch.param("body_mass"))
    batch.check_params()
    with pytest.raises(stiction.ArgumentError):
        batch.param("body_mas")
    with pytest.raises(stiction.ArgumentError):
        batch.param("qpos")


@pytest.mark.parametrize(("name", "at", "value", "message"), [
    ("body_mass", (3, 1), -1.0, r"body_mass\[3, 1\] = -1: must be >= 0"),
    ("body_mass", (0, 2), np.nan, r"body_mass\[0, 2\] = nan: must be finite"),
    ("body_inertia", (2, 1, 2), 0.0, r"body_inertia\[2, 1, 2\] = 0: must be > 0"),
    ("dof_damping", (4, 7), -0.1, r"dof_damping\[4, 7\] = -0.1: must be >= 0"),
    ("gravity", (1, 2), np.inf, r"gravity\[1, 2\] = inf: must be finite"),
])
def test_an_unphysical_parameter_is_refused_by_the_next_step(batch, name, at, value, message):
    own = batch.param(name)
    batch.step()
    good, before = own[at], batch.state_hash()
    own[at] = value
    for _ in range(2):
        with pytest.raises(stiction.ArgumentError, match=message):
            batch.step(3)
        assert batch.state_hash() == before and not batch.status.any()
    own[at] = good
    batch.step()
    assert batch.state_hash() != before


def test_a_file_with_one_is_refused(batch, tmp_path):
    path = tmp_path / "batch.bin"
    mass = batch.param("body_mass")
    mass[2, 3] = -5
    batch.save(path)
    mass[2, 3] = 5
    before = batch.state_hash()
    with pytest.raises(stiction.Error, match=r"batch.bin: is damaged: body_mass\[2, 3\] = -5: must"):
        batch.load(path)
    assert batch.state_hash() == before and mass[2, 3] == 5
    batch.step()


def test_environments_refuse_it_too():
    env = stiction.Env("HalfCheetah-v5", 3)
    env.reset()
    own = env.batch.param("dof_armature")
    own[2, 4] = -1
    steps, obs = env.steps, env.obs.copy()
    with pytest.raises(stiction.ArgumentError, match=r"dof_armature\[2, 4\] = -1"):
        env.step(np.zeros((3, 6)))
    assert env.steps == steps and (env.obs == obs).all()
    own[2, 4] = 0.1
    env.step(np.zeros((3, 6)))


# ---------------------------------------------------------------------------------- frozen


def test_frozen_and_their_reset(batch):
    assert batch.frozen.dtype == bool and not batch.frozen.any()
    batch.qpos[[1, 3], 0] = np.nan
    batch.step()
    assert batch.frozen.tolist() == [False, True, False, True, False] and batch.status_count == 2
    time = batch.time.copy()
    batch.reset(batch.frozen)
    assert not batch.frozen.any() and (batch.time == np.where([0, 1, 0, 1, 0], 0, time)).all()


def test_a_warning_does_not_freeze(quadruped):
    batch = stiction.Batch(quadruped, 2)
    batch.ctrl[1] = np.nan
    batch.step()
    assert batch.status[1] == stiction.Status.bad_control and not batch.frozen.any()


# --------------------------------------------------------------------------------- stepping


def test_step_and_counts(batch, home):
    batch.set_state(qpos=home[0])
    batch.ctrl[:] = home[2]
    batch.clear_counts()
    batch.step(20)
    counts = batch.counts
    assert counts.env_steps == 20 * N and counts.iterations > 0 and counts.frozen == 0
    assert counts.iteration_histogram.sum() == counts.env_steps
    k = np.arange(counts.iteration_histogram.size)
    assert (k * counts.iteration_histogram).sum() == counts.iterations
    assert counts.pack_steps == 20 * -(-N // batch.lanes)
    assert "env_steps=100" in repr(counts)
    batch.clear_counts()
    assert batch.counts.env_steps == 0 and counts.env_steps == 20 * N, "counts are a copy"
    for n in (0, -1):
        with pytest.raises(stiction.ArgumentError, match="must be >= 1"):
            batch.step(n)


def test_contacts(batch, home):
    batch.set_state(qpos=home[0])
    batch.ctrl[:] = home[2]
    batch.step(300)
    contacts = batch.contacts(2)
    assert len(contacts) >= 4 and all(isinstance(c, stiction.Contact) for c in contacts)
    with pytest.raises(stiction.ArgumentError):
        batch.contacts(N)


def test_save_and_load(batch, home, tmp_path):
    batch.set_state(qpos=home[0])
    batch.ctrl[:] = home[2]
    batch.step(5)
    saved = batch.state_hash()
    batch.save(tmp_path / "batch.bin")
    batch.step(5)
    later = batch.state_hash()
    batch.load(tmp_path / "batch.bin")
    assert batch.state_hash() == saved
    batch.step(5)
    assert batch.state_hash() == later
    (tmp_path / "broken").write_bytes((tmp_path / "batch.bin").read_bytes()[:-9])
    for name in ("broken", "nowhere"):
        with pytest.raises(stiction.Error):
            batch.load(tmp_path / name)


def test_dump_and_replay(batch, home, tmp_path, cli):
    batch.set_state(qpos=home[0])
    batch.ctrl[:] = home[2]
    batch.step(100)
    batch.dump(3, tmp_path / "env.json")
    result = cli("replay", tmp_path / "env.json", "--steps", "2")
    assert result.returncode == 0, result.stderr
    assert "iterations" in result.stdout and result.stdout.count("step ") == 2
    assert cli("replay", tmp_path / "nowhere.json").returncode == 2
    (tmp_path / "broken.json").write_text("{")
    broken = cli("replay", tmp_path / "broken.json")
    assert broken.returncode == 1 and len(broken.stderr.splitlines()) == 1
