"""What tasks draw beside the robot, and commands by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction import rotations, terms
from stiction.view import window
from stiction.view.motion import PolicyMotion
from stiction.view.panel import Panel, hold_command, task_arrows, velocity_command

sys.path.append(str(Path(__file__).parents[1] / "terms"))
from walker import Walk, task_of  # noqa: E402


def still(env):
    return lambda obs: np.zeros((env.num_envs, env.num_actions), np.float32)


def test_a_velocity_command_draws_what_is_asked_for_and_done():
    env = stiction.TaskEnv(Walk, 4, seed=3, autoreset="disabled")
    for _ in range(8):
        env.step(np.zeros((4, 4), np.float32))
    command = env.task.commands["velocity"]
    for i in range(4):
        command.hold(i, (0.8, -0.4, 0.3))
        (start, end, green), (at, tip, blue) = task_arrows(env, i)
        yaw = float(rotations.yaw(env.batch.xquat[i : i + 1, 1])[0])
        turned = [0.8 * np.cos(yaw) + 0.4 * np.sin(yaw), 0.8 * np.sin(yaw) - 0.4 * np.cos(yaw), 0]
        np.testing.assert_allclose(end - start, 0.5 * np.array(turned), atol=1e-6)
        np.testing.assert_allclose(start, env.batch.xpos[i, 1] + [0, 0, 0.35], atol=1e-6)
        np.testing.assert_allclose(tip - at, 0.5 * env.batch.xvel[i, 1, 3:] * [1, 1, 0], atol=1e-6)
        assert green != blue
    command.hold(0, (0, 0, 0))
    assert len(task_arrows(env, 0)) == 1  # what is not asked for has no arrow


def test_a_pose_draws_its_axes():
    env = stiction.TaskEnv(stiction.library.PandaReach, 2)
    pose = env.task.commands["pose"]
    arrows = task_arrows(env, 1)
    matrix = rotations.to_matrix(pose.value[1, 3:])
    for k, (start, end, colour) in enumerate(arrows):
        np.testing.assert_allclose(start, pose.value[1, :3], atol=1e-6)
        np.testing.assert_allclose(end - start, 0.1 * matrix[:, k], atol=1e-6)
        assert np.argmax(colour) == k


def test_tasks_draw_arrows_of_their_own():
    class Own(Walk):
        def arrows(self, env):
            return [*super().arrows(env), ((0, 0, 0), (0, 0, 1), (1, 1, 0))]

    env = stiction.TaskEnv(Own, 2)
    assert task_arrows(env, 1)[-1] == ((0, 0, 0), (0, 0, 1), (1, 1, 0))
    assert task_arrows(stiction.Env("Hopper-v5", 1)) == [] and velocity_command(stiction.Env("Hopper-v5", 1)) is None


def test_films_show_the_arrows():
    pytest.importorskip("mujoco")
    from stiction.view.rendering import Renderer

    env = stiction.TaskEnv(Walk, 1, seed=3)
    env.task.commands["velocity"].hold(0, (1.0, 0, 0))
    camera = Renderer(env, 320, 240)
    try:
        plain = camera.draw_env(env.batch, 0).astype(int)
        drawn = camera.draw_env(env.batch, 0, task_arrows(env, 0)).astype(int)
    finally:
        camera.close()
    green = lambda picture: int((picture[..., 1] > 1.5 * np.maximum(picture[..., 0], picture[..., 2])).sum())
    assert green(plain) == 0 and 50 < green(drawn) < 5000


def test_keys_of_the_number_pad_command_a_velocity():
    env = stiction.TaskEnv(task_of(commands={"velocity": terms.VelocityCommand(interval=(0.1, 0.1))}), 3, autoreset="disabled")
    motion, panel = PolicyMotion(env, still(env)), Panel(env=1)
    assert velocity_command(motion) is env.task.commands["velocity"]
    for key in (328, 328, 324, 329):
        window.press(panel, key, 3)
    assert panel.command == (0.2, 0.1, -0.1)
    for _ in range(20):
        hold_command(motion, panel)
        motion.advance()
        hold_command(motion, panel)
        np.testing.assert_allclose(env.task.commands["velocity"].value[1], (0.2, 0.1, -0.1))
    assert (env.task.commands["velocity"].value[0] != (0.2, 0.1, -0.1)).any()
    window.press(panel, window.PAD_5, 3)
    assert panel.command == (0, 0, 0)
    window.press(panel, window.PAD_0, 3)
    assert panel.command is None and panel.restart
    window.press(panel, window.PAD_POINT, 3)
    assert not panel.markers


def test_the_browser_draws_them_and_takes_commands():
    pytest.importorskip("viser")
    from stiction.view.browser import BrowserView

    env = stiction.TaskEnv(Walk, 2, seed=3, autoreset="disabled")
    motion, panel = PolicyMotion(env, still(env)), Panel(command=(0.5, 0.0, 0.0))
    page = BrowserView(motion, panel)
    try:
        for _ in range(3):
            assert page.show()
            motion.advance()
        np.testing.assert_allclose(env.task.commands["velocity"].value[0], (0.5, 0, 0))
        assert page.server.scene.get_handle_by_name("/robot/markers").visible
        panel.markers = False
        page.show()
        assert not page.server.scene.get_handle_by_name("/robot/markers").visible
    finally:
        page.close()
