"""The reward and its terms over the last seconds, in windows, browsers and films."""

import os
import subprocess
import sys

import numpy as np
import pytest

import stiction
from stiction.view import rewards, window
from stiction.view.motion import ModelMotion, PolicyMotion
from stiction.view.panel import Panel
from stiction.view.rendering import choose_backend
from stiction.view.rewards import RewardTrace, add_step, trace_of

renders = pytest.mark.skipif(choose_backend() is not None, reason="MuJoCo renders nothing here")


class Sum(stiction.TermTask):
    """Rewards that are known: the angle, and minus twice its square."""

    model = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.03"/></body></worldbody>
      <actuator><position joint="hinge" kp="50" kv="5"/></actuator></mujoco>"""
    frame_skip = 10
    max_episode_steps = 400
    observations = {"joints": stiction.terms.Observation(stiction.terms.joint_positions)}
    rewards = {
        "angle": stiction.terms.Reward(lambda task: task.robot.joint_positions[:, 0], 1.0),
        "square": stiction.terms.Reward(lambda task: task.robot.joint_positions[:, 0] ** 2, -2.0),
    }


def moving(num_envs=2, **more):
    env = stiction.TaskEnv(Sum, num_envs, autoreset="disabled", **more)
    return PolicyMotion(env, lambda obs: np.full((num_envs, 1), 0.5, np.float32) * (1 + np.arange(num_envs)[:, None]))


def test_a_trace_has_the_terms_of_the_environment_that_is_shown():
    motion, angles = moving(), []
    trace = trace_of(motion)
    assert trace.names == ("reward", "angle", "square")
    for _ in range(30):
        motion.advance()
        add_step(trace, motion, 1)
        add_step(trace, motion, 1)  # a pause: the same step
        angles.append(float(motion.env.batch.qpos[1, 0]))
    times, values = trace.table()
    q = np.array(angles)
    np.testing.assert_allclose(times, motion.dt * np.arange(-29, 1), atol=1e-9)
    np.testing.assert_allclose(values, motion.env.dt * np.stack([q - 2 * q**2, q, -2 * q**2], 1), rtol=1e-5, atol=1e-8)
    add_step(trace, motion, 0)
    assert len(trace.table()[0]) == 1  # another environment begins anew
    motion.reset()
    motion.advance()
    add_step(trace, motion, 0)
    assert len(trace.table()[0]) == 1  # and so does another beginning


def test_the_last_step_of_an_episode_is_kept():
    motion = moving(max_episode_steps=3)
    for _ in range(3):
        motion.advance()
    assert motion.reward[0] != 0 and motion.metrics[0].any()  # the environment has begun anew since


def test_a_trace_forgets_what_is_older_than_it_shows():
    trace = RewardTrace(("reward_a", "speed"))
    for k in range(1000):
        trace.add(0.02 * k, k, [10 * k, -1])
    times, values = trace.table()
    assert times[0] == pytest.approx(-rewards.SECONDS) and len(times) == 251 and times[-1] == 0
    np.testing.assert_array_equal(values[-1], (999, 9990))


def test_the_greatest_terms_are_drawn():
    trace = RewardTrace([f"rewards/{k}" for k in range(12)])
    for k in range(5):
        trace.add(k, 0, np.where(np.arange(12) % 2, 1.0 + np.arange(12), 0.1))
    shown = trace.shown()
    assert len(shown) == 1 + rewards.TERMS and shown[0] == 0 and {2, 4, 6, 8, 10, 12} < set(shown)
    assert len({trace.colour(k) for k in range(13)}) == 13


def test_motions_without_rewards_have_no_trace(tmp_path):
    assert trace_of(ModelMotion(stiction.Model.from_xml(Sum.model), None, "hold", 0)) is None


def test_a_figure_has_a_line_for_each():
    pytest.importorskip("mujoco")
    motion = moving()
    trace = trace_of(motion)
    rewards.figure(trace)  # before the first step
    for _ in range(100):
        motion.advance()
        add_step(trace, motion, 0)
    figure, (times, values) = rewards.figure(trace), trace.table()
    for line in range(3):
        assert figure.linename[line] == trace.names[line].encode() and figure.linepnt[line] == 100
        np.testing.assert_allclose(figure.linedata[line, :200].reshape(100, 2), np.stack([times, values[:, line]], 1), atol=1e-6)
    low, high = figure.range[1]
    assert low <= min(values.min(), 0) and high >= max(values.max(), 0)
    assert figure.linepnt[3] == 0


@pytest.mark.parametrize("count", [1, 119, 120, 121, 239, 240, 241, 6000])
def test_a_line_has_few_points_and_the_newest(count):
    pytest.importorskip("mujoco")
    trace = RewardTrace()
    for k in range(count):
        trace.add(k / 2000, k, [])
    figure = rewards.figure(trace)
    points = int(figure.linepnt[0])
    assert min(count, 60) <= points <= 120 and tuple(figure.linedata[0, 2 * points - 2 : 2 * points]) == (0, count - 1)


@renders
def test_films_show_it_at_the_lower_left():
    trace = RewardTrace(("reward_a",))
    for k in range(250):
        trace.add(0.02 * k, 1.0, [-1.0])
    painter, plain = rewards.FigurePainter(1280, 720), np.full((720, 1280, 3), 120, np.uint8)
    try:
        drawn = painter.draw(plain, trace)
    finally:
        painter.close()
    left, bottom, width, height = rewards.place_in(1280, 720)
    inside = drawn[720 - bottom - height : 720 - bottom, left : left + width].astype(int)
    changed = (drawn != plain).any(2)
    assert changed.sum() == changed[720 - bottom - height : 720 - bottom, left : left + width].sum() > 0.9 * width * height
    assert (plain == 120).all()
    white = np.nonzero((inside > 200).all(2))  # the reward, above its term
    term = np.nonzero(inside.max(2) - inside.min(2) > 100)
    assert len(white[0]) > 50 and len(term[0]) > 50 and np.median(white[0]) < np.median(term[0])


@renders
def test_a_film_of_a_task_has_it(tmp_path, monkeypatch):
    from stiction.learning import film as of_policy
    from stiction.view import film

    for module in (film, of_policy):
        pictures = []
        monkeypatch.setattr(module, "write_mp4", lambda path, frames, fps, pictures=pictures: pictures.extend(frames))
        monkeypatch.setattr(module, "SIZE", (320, 180))
        for plot in (False, True):
            motion = moving(1)
            if module is film:
                film.film_motion(motion, tmp_path / "a.mp4", 0.1, Panel(rewards=plot), 1)
            else:
                of_policy.film(motion.env, motion.policy, tmp_path / "a.mp4", 0.1, plot)
        half = len(pictures) // 2
        left, bottom, width, height = rewards.place_in(320, 180)
        corner = (slice(180 - bottom - height, 180 - bottom), slice(left, left + width))
        for without, plotted in zip(pictures[:half], pictures[half:]):
            same = (np.asarray(without) == plotted).all(2)
            assert same[corner].mean() < 0.1 and same[: 180 - bottom - height].all(), module


def test_plus_on_the_number_pad_switches_it():
    panel = Panel()
    window.press(panel, window.PAD_PLUS, 1)
    assert panel.rewards
    window.press(panel, window.PAD_PLUS, 1)
    assert not panel.rewards


class Recorder:
    """What a window is told of figures."""

    def __init__(self, mujoco):
        self.viewport, self.figures = mujoco.MjrRect(10, 20, 1000, 500), []

    def set_figures(self, figures):
        self.figures.append(figures)

    def clear_figures(self):
        self.figures.append(None)


def test_a_window_is_given_the_figure_while_it_is_wanted():
    mujoco = pytest.importorskip("mujoco")
    view = object.__new__(window.WindowView)
    view.motion, view.panel, view.mujoco, view.viewer = moving(), Panel(), mujoco, Recorder(mujoco)
    view.trace, view.plotted = trace_of(view.motion), False
    for wanted in (False, True, True, False, False):
        view.panel.rewards = wanted
        view.motion.advance()
        view._plot()
    (place, figure), (_, last), end = view.viewer.figures
    assert end is None and (place.left, place.bottom, place.width, place.height) == (18, 28, 340, 180)
    assert figure.linepnt[0] == 2 and last.linepnt[0] == 3  # steps before it was switched on are there, too


def test_a_page_has_a_box_and_a_plot():
    pytest.importorskip("viser")
    from stiction.view.browser import BrowserView

    motion, panel = moving(), Panel()
    page = BrowserView(motion, panel)
    try:
        for _ in range(20):
            motion.advance()
            assert page.show()
        assert page.plot is None
        panel.rewards = True
        page.show()
        assert page.plot.visible and [s["label"] for s in page.plot.series] == ["s", "reward", "angle", "square"]
        np.testing.assert_allclose(np.array(page.plot.data[1:]).T, page.trace.table()[1])
        for _ in range(20):
            motion.advance()
            page.show()
        assert len(page.plot.data[0]) > 30
        panel.rewards = False
        page.show()
        assert not page.plot.visible
    finally:
        page.close()


@renders
def test_mujoco_may_be_imported_before():
    """Without a choice of its user MuJoCo takes GLFW then, which needs a screen."""
    program = ("import mujoco, numpy, stiction.view.rendering as r, stiction.view.rewards as w; assert r.choose_backend() is None; "
               "p = w.FigurePainter(640, 360); p.close(); print('drawn')")  # fmt: skip
    env = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "DISPLAY")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert done.stdout.strip().endswith("drawn"), done.stderr
