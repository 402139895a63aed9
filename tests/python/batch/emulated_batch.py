"""Arrays of a batch on the emulated device; test_device_array.py runs this with a module that has it."""

import gc
import sys

import numpy as np
from mesh_scene import scene

import stiction


def refused(f):
    try:
        f()
    except (stiction.ArgumentError, TypeError, ValueError, AttributeError) as e:
        return str(e)
    raise AssertionError("nothing was raised")


def pair(num_envs=6):
    model = stiction.assets.load("go2", floor=False)
    return [stiction.Batch(model, num_envs=num_envs, device=d) for d in ("emulated", "cpu")]


def test_what_it_says():
    there, here = pair()
    assert there.device == "emulated" and there.isa == "emulated" and here.device == "cpu"
    assert "device=emulated" in repr(there) and there.memory.device > 0 and here.memory.device == 0
    assert isinstance(here.qpos, np.ndarray)
    for name in ("qpos", "qvel", "ctrl", "xpos", "time", "status", "status_step"):
        a, b = getattr(there, name), getattr(here, name)
        assert isinstance(a, stiction.DeviceArray), name
        assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes, len(a)) == (
            b.shape, b.dtype, b.ndim, b.size, b.nbytes, len(b)), name
        assert a.device == "emulated" and a.name == name and name in repr(a)
        assert a.__dlpack_device__() == (1, 0)
        assert not hasattr(a, "__cuda_array_interface__")


def test_numbers_cross():
    there, here = pair()
    for name in ("qpos", "qvel", "time", "ctrl", "xpos"):
        np.testing.assert_allclose(getattr(there, name).numpy(), getattr(here, name),
                                   rtol=1e-6, atol=1e-6)
    copy = there.qpos.numpy()
    copy[:] = 7
    assert (there.qpos.numpy() != 7).any()
    assert np.asarray(there.qpos).dtype == np.float64
    assert np.asarray(there.qpos, dtype=np.float32).dtype == np.float32
    assert "a copy is needed" in refused(lambda: np.array(there.qpos, copy=False))
    assert "[:]" in refused(lambda: there.ctrl.__setitem__(0, 1.0))


def test_dlpack_shares_the_memory():
    there, _ = pair()
    shared = np.from_dlpack(there.qpos)
    np.testing.assert_array_equal(shared, there.qpos.numpy())
    there.ctrl[:] = 0.25
    np.testing.assert_array_equal(np.from_dlpack(there.ctrl), np.float32(0.25))
    before = shared.copy()
    there.step(3)
    assert (shared != before).any()
    del there
    gc.collect()
    assert np.isfinite(shared).all()  # the array keeps the batch alive
    assert "must be None" in refused(lambda: pair()[0].qpos.__dlpack__(stream=1))


def test_assignment():
    there, here = pair()
    given = np.random.default_rng(1).normal(size=here.ctrl.shape)
    for value in (0.5, given[0], given, given.astype(np.float32), given[::-1], given.tolist(),
                  here.ctrl, np.asfortranarray(given)):
        there.ctrl[:] = value
        here.ctrl[:] = value
        np.testing.assert_array_equal(there.ctrl.numpy(), here.ctrl)
    there.ctrl[...] = 0
    assert (there.ctrl.numpy() == 0).all()
    there.ctrl = given
    np.testing.assert_array_equal(there.ctrl.numpy(), given.astype(np.float32))
    there.ctrl = there.ctrl
    np.testing.assert_array_equal(there.ctrl.numpy(), given.astype(np.float32))
    assert "broadcasts" in refused(lambda: setattr(there, "ctrl", 0.5))
    for wrong in (given[:, 1:], np.zeros(given.shape, complex), "text"):
        assert "expected float32 of shape (6, 12)" in refused(
            lambda: there.ctrl.__setitem__(slice(None), wrong))
    assert "read-only" in refused(lambda: there.xpos.__setitem__(slice(None), 0))
    assert "read-only" in refused(lambda: there.status.__setitem__(slice(None), 0))
    assert (there.status.numpy() == 0).all()


class Elsewhere:
    """Memory of a card, as far as its protocols say."""

    shape, dtype = (6, 12), np.float32

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **kwargs):
        raise AssertionError("asked for memory of a card")


class Elsewhere3:
    __cuda_array_interface__ = {"shape": (6, 12), "typestr": "<f4", "data": (0, False),
                                "version": 3}


def test_memory_of_a_card_is_refused():
    there, _ = pair()
    for value in (Elsewhere(), Elsewhere3()):
        assert "given an array on a card" in refused(
            lambda: there.ctrl.__setitem__(slice(None), value))


class OfTheCard:
    """Memory that says it is a card's: no one looks."""

    shape, dtype = (6, 12), np.float32

    def __init__(self, numbers, streams):
        self.numbers, self.streams = numbers, streams

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream):
        self.streams.append(stream)
        return self.numbers.__dlpack__()


def test_memory_of_the_card_is_taken():
    model = stiction.assets.load("go2", floor=False)
    batch = stiction.Batch(model, num_envs=6, device="cuda_emulated")
    numbers, streams = np.full((6, 12), 0.25, np.float32), []
    held = sys.getrefcount(numbers)
    batch.ctrl[:] = OfTheCard(numbers, streams)
    assert (batch.ctrl.numpy() == 0.25).all() and sys.getrefcount(numbers) == held
    batch.stream = 9
    numbers[:] = 0.5
    batch.ctrl[:] = OfTheCard(numbers, streams)
    assert (batch.ctrl.numpy() == 0.5).all() and streams == [1, 9]
    for wrong in (numbers[:3], numbers.astype(np.float64), numbers.T):
        assert "contiguous" in refused(
            lambda wrong=wrong: batch.ctrl.__setitem__(slice(None), OfTheCard(wrong, streams)))

    given = np.full((6, 12), -0.5, np.float32)

    class ByInterface:
        __cuda_array_interface__ = {"shape": (6, 12), "typestr": "<f4", "version": 3, "stream": 1,
                                    "data": (given.ctypes.data, False)}

    batch.ctrl[:] = ByInterface()
    assert (batch.ctrl.numpy() == -0.5).all()
    assert batch.ctrl.__cuda_array_interface__["stream"] == 9
    assert batch.ctrl.__dlpack_device__() == (2, 0)
    assert "dltensor_versioned" in repr(batch.ctrl.__dlpack__(stream=1, max_version=(1, 0)))
    assert "stream = 0" in refused(lambda: batch.ctrl.__dlpack__(stream=0))


def test_states_parameters_and_files(path):
    there, here = pair()
    qpos = here.qpos + 0
    qpos[:, 2] += 0.1
    there.set_state(qpos=qpos)
    np.testing.assert_array_equal(there.get_state()["qpos"], qpos)
    there.reset([2], qvel=np.ones(there.model.nv))
    assert (there.qvel.numpy()[2] == 1).all() and (there.qvel.numpy()[1] == 0).all()
    mass = there.param("body_mass")
    assert isinstance(mass, stiction.DeviceArray)
    scaled = mass.numpy()
    scaled[3] *= 2
    mass[:] = scaled
    there.check_params()
    there.ctrl[:] = 0.1
    there.step(4)
    there.save(path)
    here.load(path)
    assert here.state_hash() == there.state_hash()
    np.testing.assert_array_equal(here.param("body_mass"), scaled)
    assert there.counts.env_steps == 24
    there.clear_counts()
    assert there.counts.env_steps == 0
    there.synchronize()
    there.refresh()
    assert there.status_count == 0
    assert isinstance(there.contacts(1), stiction.Contacts)
    assert not there.frozen.any()


def test_meshes_are_chosen_on_the_device():
    model = stiction.Model.from_xml(scene())
    there, here = (stiction.Batch(model, num_envs=7, device=d) for d in ("emulated", "cpu"))
    for batch in (there, here):
        batch.choose_mesh("thing", "stone", ids=[1, 4])
        batch.choose_mesh("thing", "wedge", ids=[2])
    for name in ("geom_dataid", "geom_size", "geom_pos", "geom_quat"):
        np.testing.assert_array_equal(there.param(name).numpy(), here.param(name))
    there.check_params()
    there.step(200)
    alone = stiction.Batch(model.with_mesh("thing", "stone"), num_envs=7, device="emulated")
    alone.step(200)
    assert (alone.ncon.numpy() > 0).all()
    same = (there.qpos.numpy() == alone.qpos.numpy()).all(axis=1)
    assert list(np.flatnonzero(same)) == [1, 4]


def test_what_is_computed_on_request():
    """By the host, from the rows of the device: as of a batch there."""
    there, here = pair()
    rng = np.random.default_rng(3)
    qpos = np.tile(here.model.qpos0, (6, 1))
    qpos[:, 7:] += rng.uniform(-0.3, 0.3, (6, 12))
    state = {"qpos": qpos, "qvel": rng.normal(size=(6, here.model.nv))}
    for batch in (there, here):
        mass = np.array([1.0, 1, 2, 1, 1, 1])[:, None] * here.model.body_mass
        batch.param("body_mass")[:] = mass.astype(np.float32)
        batch.set_state(**state)
        bad = qpos.copy()
        bad[4] = np.nan
        batch.qpos[:] = bad
    for name in ("geom_xpos", "geom_xmat", "site_xpos", "subtree_com", "cvel", "M", "qfrc_bias",
                 "energy_kinetic", "energy_potential"):
        a = getattr(there, name)
        assert isinstance(a, np.ndarray) and np.isnan(a[4]).all() and np.isfinite(a[2]).all(), name
        np.testing.assert_array_equal(a, getattr(here, name), err_msg=name)
    for a, b in zip(there.jac(3, [0, 0, 1]), here.jac(3, [0, 0, 1]), strict=True):
        np.testing.assert_array_equal(a, b)
    qacc = rng.normal(size=(6, here.model.nv))
    np.testing.assert_array_equal(there.inverse(qacc), here.inverse(qacc))
    a, b = there.contacts(), here.contacts()
    for name in ("env", "slot", "gap", "force"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_streams_are_the_cards():
    there, here = pair()
    there.stream = 5
    assert there.stream == 5

    class Stream:
        cuda_stream = 9

    there.stream = Stream()
    assert there.stream == 9
    assert "no streams" in refused(lambda: setattr(here, "stream", 1))


if __name__ == "__main__":
    done = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(*sys.argv[1 : 1 + test.__code__.co_argcount])
            done += 1
    print(done, "passed")
