"""Things at rest in a batch, in both precisions: creep of the regularised law within C4, none of the
anchored one. Short versions of bench/bench_rest.py.
"""

import numpy as np
import pytest

import creep_scenes as scenes
import stiction
from creep_scenes import PRECISIONS, REST

# scene, steps until it rests: anchors settle at 0.8 per step, stacks and robots sway
SCENES = {
    "box 15 deg": (lambda: scenes.incline_scene(15), 1000),
    "stack of ten": (lambda: scenes.stack_scene(drop=2e-5), 1000),
    "stack of five, 2 deg": (lambda: scenes.stack_scene(5, degrees=2), 3000),
    "go2 flat": (lambda: scenes.go2_scene(0), 4000),
    "go2 15 deg": (lambda: scenes.go2_scene(15), 4000),
    "go2 15 deg, mesh feet": (lambda: scenes.go2_scene(15, mesh_feet=True), 4000),
    "g1 2 deg, mesh feet": (lambda: scenes.g1_scene(2), 4000),
    "quadruped 15 deg": (lambda: scenes.quadruped_scene(15), 4000),
}
# A joint that uses all of its dry friction to stand is at the kink of its law: some steps (4 %) take a second iteration; up to
# 14 % a second or third where the bounds of friction follow.
AT_A_KINK = ("go2 flat", "go2 15 deg", "go2 15 deg, mesh feet")


def batch_of(scene, precision, **options):
    batch = stiction.Batch(scene.model, num_envs=1, options=stiction.Options(**options),
                           precision=precision, threads=1)
    batch.set_state(qpos=scene.qpos[None], qvel=scene.qvel[None])
    batch.ctrl[0] = scene.ctrl
    return batch


def origins(batch):
    return np.array(batch.xpos[0, 1:])


def drift(batch, steps):
    """Greatest mean speed of a body over so many steps, m/s."""
    before = origins(batch)
    batch.step(steps)
    moved = np.linalg.norm(origins(batch) - before, axis=1)
    return moved.max() / (steps * batch.options.timestep)


def creep_bounds(batch):
    """C4 per loaded contact: eps_s r / sqrt(1 - r^2), r the share of its bound that it carries."""
    bounds = []
    for c in batch.contacts(0):
        if c.n0 > 0:
            normal = np.asarray(c.normal)
            impulse = np.asarray(c.impulse)
            tangent = impulse - (impulse @ normal) * normal
            bounds.append(scenes.creep(np.linalg.norm(tangent) / (c.friction * c.n0), c.eps_s))
    return bounds


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name, solves", [(name, "auto") for name in SCENES] + [(name, 1) for name in AT_A_KINK])
def test_rest(name, solves, precision):
    make, settle = SCENES[name]
    scene = make()
    boxes = scene.model.nbody - 1 if scene.model.nu == 0 else 1
    for law in ("regularized", "anchored"):
        batch = batch_of(scene, precision, stiction=law, friction_iterations=solves)
        height = origins(batch)[:, 2]
        batch.step(settle)
        # it stands: servos give way by millimetres, a stack on a slope leans
        np.testing.assert_allclose(origins(batch)[:, 2], height, atol=0.03)
        batch.clear_counts()
        # slips of a stack add up; what leans on more creep leans more
        bound = 1.1 * boxes * max(creep_bounds(batch)) if law == "regularized" else 0.0
        speed = drift(batch, 500)
        counts = batch.counts
        print(f"{law} {speed:.2e} m/s, bound {bound:.2e}, "
              f"{counts.iterations / counts.env_steps:.3f} iterations")
        assert speed <= bound + REST[precision]
        if law == "regularized" and name != "stack of ten":  # negative control
            assert speed > 10 * REST["float32"]
        assert batch.status[0] == 0 and counts.stalled == 0 and counts.not_converged == 0
        more = counts.iteration_histogram[2:]
        if name in AT_A_KINK:
            assert more.sum() < (0.1 if solves == 1 else 0.2) * counts.env_steps
            assert not more[1 if solves == 1 else 2 :].any()
        else:
            assert not more.any()  # none or one


@pytest.mark.parametrize("precision", PRECISIONS)
def test_box_creeps_as_c4(precision):
    """The creep of a box on 15 degrees: load tan(15 deg)/mu at v_s."""
    batch = batch_of(scenes.incline_scene(15, mu=0.5), precision)
    batch.step(1000)
    expected = scenes.creep(np.tan(np.radians(15)) / 0.5)
    assert drift(batch, 500) == pytest.approx(expected, rel=1e-3)  # gate of C4


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("load", (0.1, 0.5, 0.9, 0.99))
def test_constant_load_is_held(load, precision):
    """40 tau after the load came: slip below 1e-12 m/s at 1e-12, below 1e-6 m/s in float at 1e-4."""
    tolerance, gate = {"float64": (1e-12, 1e-12), "float32": (1e-4, 1e-6)}[precision]
    batch = batch_of(scenes.load_ratio_scene(load), precision, stiction="anchored",
                     solver_tolerance=tolerance)
    batch.step(40 * scenes.ANCHOR_STEPS)
    slip = [np.linalg.norm(c.slip) for c in batch.contacts(0)]
    assert len(slip) == 4 and max(slip) < gate


def test_gripper_holds_in_float32():
    """0.5 kg between two three-point grippers, after 2 s of settling."""
    scene = scenes.gripper_scene()
    batch = batch_of(scene, "float32", stiction="anchored")
    batch.step(1000)
    assert drift(batch, 5000) < REST["float32"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_anchors_move_with_their_environment(precision):
    """Loads of 20 environments, permuted with their states halfway: the same bits."""
    scene, n = scenes.point_scene(), 20
    loads = np.linspace(-0.98, 0.98, n)[:, None] * 0.5 * scenes.GRAVITY
    order = np.random.default_rng(1).permutation(n)

    def batch():
        return stiction.Batch(scene.model, num_envs=n, threads=1, precision=precision,
                              options=stiction.Options(stiction="anchored"))

    whole, first, second = batch(), batch(), batch()
    whole.ctrl[:] = first.ctrl[:] = loads
    whole.step(60)
    first.step(30)
    state = ("qpos", "qvel", "anchor", "qacc_warmstart")
    second.set_state(**{name: getattr(first, name)[order] for name in state})
    second.ctrl[:] = loads[order]
    second.step(30)
    for name in state:
        assert np.array_equal(getattr(second, name), getattr(whole, name)[order])
    assert np.abs(whole.anchor).max() > 0


def test_iterations_in_float32():
    """Newton iterations of anchored stiction within 10 % of the regularised law's, sliding."""
    scene = scenes.point_scene()
    scene.qvel[0] = 1.0
    counts = {}
    for law in ("regularized", "anchored"):
        batch = batch_of(scene, "float32", stiction=law)
        batch.step(100)  # stops after 102
        counts[law] = batch.counts.iterations
    assert 0 < counts["regularized"] and counts["anchored"] <= 1.1 * counts["regularized"]
