"""Pictures through MuJoCo, where its renderer works."""

import subprocess
import sys
import time

import numpy as np
import pytest

import stiction
from kinds import Pendulum
from stiction.view.rendering import find_backend

gymnasium = pytest.importorskip("gymnasium")


@pytest.fixture(scope="module", autouse=True)
def renderer_works():
    backend, why = find_backend()
    if backend is None:
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", backend)
        yield


def test_a_tuple_of_pictures():
    for task in (Pendulum, "HalfCheetah-v5"):
        envs = stiction.make(task, 3, render_mode="rgb_array", width=64, height=48)
        envs.reset(seed=1)
        before = envs.render()
        assert len(before) == 3 and {p.shape for p in before} == {(48, 64, 3)}
        assert before[0].dtype == np.uint8 and np.ptp(before[0]) > 50, "something is to be seen"
        for _ in range(10):
            envs.step(envs.action_space.sample())
        assert (envs.render()[0] != before[0]).any(), "it moved"
        assert envs.metadata["render_fps"] == round(1 / envs.env.dt)
        envs.close()


def test_no_more_than_sixteen_unless_told():
    envs = stiction.make(Pendulum, 20, render_mode="rgb_array", width=16, height=16)
    assert len(envs.render()) == 16
    envs = stiction.make(Pendulum, 20, render_mode="rgb_array", width=16, height=16, render_envs=2)
    assert len(envs.render()) == 2
    envs.close()


def test_without_a_mode_nothing_is_drawn():
    assert stiction.make(Pendulum, 2).render() is None
    with pytest.raises(stiction.ArgumentError, match="render_mode"):
        stiction.make(Pendulum, 2, render_mode="ansi")


def test_human_mode_shows_the_first_robot_at_real_time(monkeypatch):
    from stiction.adapters.gymnasium import SingleEnv
    from stiction.view import show

    shown = []

    class Window:
        def __init__(self, motion):
            self.motion = motion

        def show(self):
            shown.append(self.motion.batch.qpos[0].copy())
            return True

        def close(self):
            shown.append("closed")

    monkeypatch.setattr(show, "open_view", Window)
    for envs in (stiction.make(Pendulum, 2, render_mode="human"), SingleEnv(Pendulum, render_mode="human")):
        shown.clear()
        begin = time.monotonic()
        envs.reset(seed=1)
        for _ in range(5):
            envs.step(envs.action_space.sample())
        assert time.monotonic() - begin >= 5 * envs.env.dt
        assert envs.render() is None
        envs.close()
        assert len(shown) == 7 and shown[-1] == "closed"
        assert np.array_equal(shown[5], envs.env.batch.qpos[0]) and (shown[0] != shown[5]).any()


@pytest.mark.filterwarnings("ignore:.*A Box observation space.*")
def test_single_environment_passes_the_render_check():
    from gymnasium.utils.env_checker import check_env

    from stiction.adapters.gymnasium import SingleEnv

    env = SingleEnv("HalfCheetah-v5", render_mode="rgb_array", width=32, height=32)
    env.reset(seed=0)
    assert env.render().shape == (32, 32, 3)
    check_env(env, skip_render_check=True)
    env.close()


def test_a_task_with_a_model_is_drawn():
    envs = stiction.make(Pendulum(model=stiction.Model.from_xml(Pendulum.model)), 2, render_mode="rgb_array",
                         width=64, height=48)  # fmt: skip
    envs.reset(seed=1)
    first, second = envs.render()
    assert np.ptp(first) > 50 and (first != second).any()
    envs.close()


@pytest.mark.train("torch", "rsl_rl")
def test_torch_may_be_imported_after_a_picture():
    code = ("import stiction; e = stiction.make('HalfCheetah-v5', render_mode='rgb_array', width=16);"
            "e.render(); import stiction.adapters.rsl_rl; print('imported')")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout == "imported\n", (run.returncode, run.stderr[-2000:])


@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_recorder(tmp_path):
    pytest.importorskip("moviepy")
    envs = stiction.make(Pendulum, 4, render_mode="rgb_array", width=64, height=64)
    envs = gymnasium.wrappers.vector.RecordVideo(envs, str(tmp_path), video_length=8)
    envs.reset(seed=1)
    for _ in range(10):
        envs.step(envs.action_space.sample())
    envs.close()
    assert {p.suffix for p in tmp_path.iterdir()} == {".mp4"}


@pytest.mark.train("pygame", "cv2")
@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    envs = stiction.make(Pendulum, 4, render_mode="rgb_array", width=32, height=32)
    envs = gymnasium.wrappers.vector.HumanRendering(envs)
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    envs.close()
