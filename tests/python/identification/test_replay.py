"""Windows, held commands, differences of positions, and the elimination of start states, against definitions."""

import numpy as np
import pytest

import stiction
from robot_logs import arm, block, log_of
from stiction.identification import Log
from stiction.identification.parameters import bind
from stiction.identification.replay import Elimination, HeldCommands, Replay, Tangent, cut

FREE = stiction.Model.from_xml(block(2, 0.4, '<freejoint name="root"/>'))
ARM = stiction.Model.from_xml(arm(0.4, 0.02, 0.35, 40))


def log_at(time, model=ARM):
    n = len(time)
    rng = np.random.default_rng(1)
    return Log(
        np.array(time, float), np.zeros((n, model.nq)), np.zeros((n, model.nv)), rng.uniform(-3, 3, (n, model.nu))
    )


def test_commands_are_held_late_and_averaged_over_a_step():
    """The mean of u(t - L) by a sum over many instants. Before the first row its command holds, after the last its."""
    limited = stiction.Model.from_xml(
        arm(0.4, 0.02, 0.35, 40).replace('name="shoulder" joint', 'name="shoulder" ctrlrange="-1 1" joint')
    )
    log = log_at(np.cumsum([0.5, 0.01, 0.003, 0.02, 0.007, 0.004]))
    held, rng, instants = HeldCommands(log, limited), np.random.default_rng(2), 20000
    begin, dt = rng.uniform(0.48, 0.56, 50), 0.005
    for a in range(2):
        t = begin[:, None] + dt * (np.arange(instants) + 0.5) / instants
        rows = np.clip(np.searchsorted(log.time, t, side="right") - 1, 0, len(log.time) - 1)
        ctrl = np.clip(log.ctrl[:, a], -1, 1) if a == 0 else log.ctrl[:, a]
        # a jump lies within one of the instants
        np.testing.assert_allclose(held.mean(begin, dt, a), ctrl[rows].mean(axis=1), atol=6 * 3 / instants)


def test_windows_do_not_cross_gaps():
    time = [0, 0.1, 0.2, 0.3, 0.4, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 9.0, 9.1]
    w = cut([log_at(time), log_at([0, 0.1, 0.2])], 1.5)
    found = [(int(k), *(w.time[i][w.valid[i]] + w.begin[i]).round(9)) for i, k in enumerate(w.log)]
    # 0.6 s are more than five periods; 9.0 and 9.1 are too few
    first, second = (0, 0, 0.1, 0.2, 0.3, 0.4), (0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
    assert found == [first, second, (1, 0, 0.1, 0.2)]


def test_windows_are_as_long_as_they_are_told():
    """0.25 s: three rows each; what is left over at an end, and has not three, is left out."""
    w = cut([log_at(np.arange(11) / 10)], 0.25)
    assert w.begin.round(9).tolist() == [0, 0.3, 0.6] and w.valid.all() and w.time.shape == (3, 3)


def test_windows_too_short_for_their_rows_are_refused():
    with pytest.raises(
        stiction.ArgumentError, match="window = 0.15 s: log has a row every 0.1 s; take 3 rows at least"
    ):
        cut([log_at(np.arange(5) / 10)], 0.15)


def test_sums_and_differences_of_positions():
    rng, tangent = np.random.default_rng(3), Tangent(FREE)
    q = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(20, 4))], axis=1)
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    step = rng.uniform(-1, 1, (20, 6))
    np.testing.assert_allclose(tangent.difference(q, tangent.add(q, step)), step, atol=1e-12)
    # the rotation is about the body's axes, as qvel is
    batch = stiction.Batch(FREE, 20, stiction.Options(timestep=1e-4), precision="float64", threads=1)
    batch.reset(qpos=q + [0, 0, 9, 0, 0, 0, 0], qvel=step)
    start = batch.qpos.copy()
    batch.step()
    np.testing.assert_allclose(tangent.difference(start, batch.qpos)[:, 3:], 1e-4 * step[:, 3:], rtol=1e-2, atol=1e-8)


def test_elimination_is_least_squares_with_all_unknowns():
    """J_θ and r of 5 windows, in which z is eliminated, have the gradient, the matrix and the least sum of squares of
    the whole problem in (θ, all z)."""
    rng, p, nz, m, windows = np.random.default_rng(4), 3, 4, 12, 5
    measured = np.array([True, True, True])  # three columns of residuals; the fourth z has none
    r, J = rng.normal(size=(windows, m // 3, 3)), rng.normal(size=(p + nz, windows, m // 3, 3))
    z = rng.normal(size=(windows, nz))
    left = Elimination(r, J, z, p, measured)
    A = np.zeros((windows * (m + 1), p + windows * nz))
    b = np.zeros(windows * (m + 1))
    for w in range(windows):
        rows, mine = slice(w * (m + 1), w * (m + 1) + m), p + w * nz
        A[rows, :p] = J[:p, w].reshape(p, m).T
        A[rows, mine : mine + nz] = J[p:, w].reshape(nz, m).T
        b[rows] = r[w].reshape(m)
        A[rows.stop, mine + 3], b[rows.stop] = 1, z[w, 3]  # prior of what is not measured
    x, rest, *_ = np.linalg.lstsq(A, -b, rcond=None)
    theta, rest_left, *_ = np.linalg.lstsq(left.J.reshape(-1, p), -left.f.reshape(-1), rcond=None)
    np.testing.assert_allclose(theta, x[:p], rtol=1e-9)
    np.testing.assert_allclose(rest_left, rest, rtol=1e-9)
    np.testing.assert_allclose(left.step + left.slope @ theta, x[p:].reshape(windows, nz), rtol=1e-6)
    np.testing.assert_allclose(left.cost, [(r[w] ** 2).sum() + z[w, 3] ** 2 for w in range(windows)])
    matrix = np.linalg.inv(np.linalg.inv(A.T @ A)[:p, :p])
    np.testing.assert_allclose(np.einsum("wki,wkj->ij", left.J, left.J), matrix, rtol=1e-9)


def test_velocities_without_a_column_begin_as_slopes():
    """Of five rows around the first one of a window, of a motion with constant velocity; fewer at an end."""
    log = log_at(np.arange(9) / 10)
    log.qpos[:] = log.time[:, None] * [2, -3]
    log.qvel[:, 1] = np.nan
    windows = cut([log], 0.4)
    options = stiction.Options(timestep=0.01)
    batch = stiction.Batch(ARM, 12, options, precision="float64", threads=1)
    replay = Replay(ARM, options, [log], bind(["kp"], batch), windows, batch)
    np.testing.assert_allclose(replay.start_qvel, [[0, -3]] * len(windows), atol=1e-12)


def test_the_truth_leaves_no_residuals():
    """Replayed with what made the log, from its states: round-off and the solver's tolerance, in whatever runs."""
    log = log_of(arm(0.4, 0.02, 0.35, 40), 2, latency=3, noise=(0, 0))
    windows, options = cut([log], 0.3), stiction.Options(solver_tolerance=1e-10)
    bounds = bind(["latency=0.006"], stiction.Batch(ARM, 1, options, precision="float64"))
    results = []
    for envs in (8 * 6, 8 * 2 + 3):
        batch = stiction.Batch(ARM, envs, options, precision="float64", threads=1)
        replay = Replay(ARM, options, [log], bounds, windows, batch)
        u, z = np.array([bounds[0].number(0.006)]), np.zeros((len(windows), 4))
        results.append(replay.compare(u[None], z[None], np.ones(4))[0])
    assert np.abs(results[0]).max() < 1e-6
    # other windows of a run, other steps in one call, another state before a sample
    np.testing.assert_allclose(results[0], results[1], rtol=0, atol=1e-12)
