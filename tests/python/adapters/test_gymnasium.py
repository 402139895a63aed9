"""Gymnasium's own checks and wrappers on the adapter."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import stiction
from kinds import Pendulum, actions

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode  # noqa: E402
from gymnasium.wrappers import vector as wrappers  # noqa: E402

from stiction.adapters.gymnasium import SingleEnv, VectorEnv  # noqa: E402

MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}


@pytest.fixture(autouse=True)
def no_warnings():
    """What Gymnasium warns about is a fault of the adapter."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def reference(num_envs, mode, max_steps=12):
    """Gymnasium's own vector of our single environments: what the adapter must agree with."""

    def create():
        return gymnasium.wrappers.TimeLimit(SingleEnv(Pendulum, max_episode_steps=0), max_steps)

    return gymnasium.vector.SyncVectorEnv([create] * num_envs, autoreset_mode=MODES[mode])


@pytest.mark.parametrize("mode", MODES)
def test_agrees_with_gymnasiums_own_vector(mode):
    ours = VectorEnv(Pendulum, 4, autoreset_mode=MODES[mode], max_episode_steps=12)
    theirs = reference(4, mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is MODES[mode]
    a, _ = ours.reset(seed=5)
    b, _ = theirs.reset(seed=5)
    np.testing.assert_array_equal(a, b)
    ends = 0
    for k in range(30):
        found, expected = ours.step(actions(ours.env, k)), theirs.step(actions(ours.env, k))
        for x, y in zip(found[:4], expected[:4]):
            np.testing.assert_array_equal(x, y)
            assert x.shape == y.shape
        assert_same_infos(found[4], expected[4])
        done = found[2] | found[3]
        ends += done.sum()
        if mode == "disabled" and done.any():
            mask = {"reset_mask": done}
            a, b = (e.reset(options=dict(mask))[0] for e in (ours, theirs))
            np.testing.assert_array_equal(a, b)
    assert ends > 5


def assert_same_infos(ours, theirs):
    """Equal where a mask says that there is something; ours have the episode in addition, and every
    key in every step."""
    for key, value in theirs.items():
        if key.startswith("_"):
            assert np.array_equal(ours[key], value), key
        elif key == "final_info":
            assert_same_infos(ours[key], value)
        elif f"_{key}" in theirs:
            for i in np.flatnonzero(theirs[f"_{key}"]):
                np.testing.assert_allclose(ours[key][i], value[i], rtol=1e-6, err_msg=key)
    extra = {k.lstrip("_") for k in ours} - {k.lstrip("_") for k in theirs}
    assert all(key == "episode" or not ours[f"_{key}"].any() for key in extra)


def test_single_environment_passes_gymnasiums_checker():
    from gymnasium.utils.env_checker import check_env

    # it warns of bounds that are infinite, as positions and velocities are
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(SingleEnv(Pendulum), skip_render_check=True)


def test_copies_unless_told_otherwise():
    held = VectorEnv(Pendulum, 3, seed=0)
    steps = [held.step(actions(held.env, k))[:4] for k in range(6)]
    again = VectorEnv(Pendulum, 3, seed=0)
    for k in range(6):
        for x, y in zip(steps[k], again.step(actions(again.env, k))[:4]):
            np.testing.assert_array_equal(x, y)
    views = VectorEnv(Pendulum, 3, copy=False)
    obs = views.step(actions(views.env, 0))[0]
    assert np.shares_memory(obs, views.env.obs)


def test_infos_are_copies():
    """Of a task with one metric, too, where a transposed view is contiguous."""
    envs = stiction.make("InvertedPendulum-v5", 3)
    envs.reset(seed=0)
    for _ in range(30):
        *_, infos = envs.step(envs.action_space.sample())
        for found in (infos, infos.get("final_info", {})):
            for name in envs.env.metric_names:
                assert name not in found or not np.shares_memory(found[name], envs.env.metrics)


def test_episode_statistics():
    envs, inside = (
        VectorEnv(Pendulum, 4, max_episode_steps=9, autoreset_mode="same_step") for _ in range(2)
    )
    recorded = wrappers.RecordEpisodeStatistics(inside)
    envs.reset(seed=1), recorded.reset(seed=1)
    ends = 0
    for k in range(30):
        *_, infos = envs.step(actions(envs.env, k))
        *_, theirs = recorded.step(actions(envs.env, k))
        assert ("final_info" in infos) == ("episode" in theirs)
        if "final_info" in infos:
            ends += infos["_final_info"].sum()
            for key in "rl":
                np.testing.assert_allclose(
                    infos["final_info"]["episode"][key], theirs["episode"][key]
                )
    assert ends > 5


def test_seeds_one_for_all_or_a_list():
    envs = VectorEnv(Pendulum, 3)
    one = envs.reset(seed=10)[0]
    np.testing.assert_array_equal(envs.reset(seed=[10, 11, 12])[0], one)
    mixed = envs.reset(seed=[12, 10, 99])[0]
    np.testing.assert_array_equal(mixed[:2], one[[2, 0]])
    with pytest.raises(stiction.ArgumentError, match="2 numbers"):
        envs.reset(seed=[1, 2])
    assert envs.np_random is not None


@pytest.mark.parametrize("mask", [np.zeros(3, bool), np.ones(2, bool), np.ones(3), [0, 1, 1]])
def test_wrong_reset_mask_is_refused(mask):
    with pytest.raises(stiction.ArgumentError, match="reset_mask"):
        VectorEnv(Pendulum, 3, autoreset="disabled").reset(options={"reset_mask": mask})


OBSERVATION = {
    "TransformObservation": {"func": lambda o: 2 * o},
    "FlattenObservation": {},
    "ReshapeObservation": {"shape": (2, 2)},
    "DtypeObservation": {"dtype": np.float64},
    "NormalizeObservation": {},
    "VectorizeTransformObservation": {
        "wrapper": gymnasium.wrappers.TransformObservation,
        "func": lambda o: 2 * o,
        "observation_space": gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32),
    },
}
ACTION = {
    "TransformAction": {"func": lambda a: a / 2},
    "VectorizeTransformAction": {
        "wrapper": gymnasium.wrappers.TransformAction,
        "func": lambda a: a / 2,
        "action_space": gymnasium.spaces.Box(-3, 3, (1,), np.float32),
    },
    "ClipAction": {},
    "RescaleAction": {
        "min_action": np.full(1, -1, np.float32),
        "max_action": np.ones(1, np.float32),
    },
}
REWARD = {
    "TransformReward": {"func": lambda r: 2 * r},
    "VectorizeTransformReward": {
        "wrapper": gymnasium.wrappers.TransformReward,
        "func": lambda r: 2 * r,
    },
    "ClipReward": {"min_reward": -0.5, "max_reward": 0.5},
    "NormalizeReward": {},
}
# of dictionaries, images and bounded observations
INAPPLICABLE = {
    "FilterObservation",
    "GrayscaleObservation",
    "ResizeObservation",
    "RescaleObservation",
}
OTHER = {"RecordEpisodeStatistics": {}, "DictInfoToList": {}}
RENDERING = {
    "RecordVideo",
    "HumanRendering",
}  # test_rendering.py, where their libraries are installed
FRAMEWORKS = {"ArrayConversion", "NumpyToTorch"}  # test_numpy_to_torch: the second is the first
JAX = {"JaxToNumpy", "JaxToTorch"}  # for environments in JAX


def test_every_vector_wrapper_has_a_test():
    known = {*OBSERVATION, *ACTION, *REWARD, *OTHER, *RENDERING, *FRAMEWORKS, *JAX, *INAPPLICABLE}
    assert set(wrappers.__all__) - known == set()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*OBSERVATION, *ACTION, *REWARD, *OTHER])
def test_vector_wrapper(name, mode):
    options = (OBSERVATION | ACTION | REWARD | OTHER)[name]
    envs = VectorEnv(Pendulum, 3, autoreset_mode=mode, max_episode_steps=7)
    if (
        name in OBSERVATION
        and mode == "same_step"
        or (name, mode) == ("NormalizeObservation", "disabled")
    ):
        with pytest.raises(ValueError, match="autoreset_mode"):  # Gymnasium's rule
            getattr(wrappers, name)(envs, **options)
        return
    wrapped = getattr(wrappers, name)(envs, **options)
    obs, _ = wrapped.reset(seed=1)
    assert wrapped.observation_space.contains(obs)
    for _ in range(20):
        obs, reward, terminated, truncated, _ = wrapped.step(wrapped.action_space.sample())
        assert wrapped.observation_space.contains(obs) and np.isfinite(reward).all()
        done = terminated | truncated
        if mode == "disabled" and done.any():
            wrapped.reset(options={"reset_mask": done})


@pytest.mark.train("torch", "array_api_compat")
def test_numpy_to_torch():
    import torch

    envs = wrappers.NumpyToTorch(VectorEnv(Pendulum, 3))
    envs.reset(seed=1)
    obs, reward, terminated, *_ = envs.step(torch.zeros(3, 1))
    assert obs.dtype == torch.float32 and reward.shape == (3,) and terminated.dtype == torch.bool


def run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_importing_stiction_imports_no_trainer():
    result = run("import stiction, sys; print({'gymnasium', 'torch', 'mujoco'} & set(sys.modules))")
    assert result.stdout == "set()\n", result.stderr


def test_without_gymnasium_the_rest_works_and_make_says_what_to_install():
    result = run(
        "import sys; sys.modules['gymnasium'] = None\n"
        "import stiction; print(stiction.Env('HalfCheetah-v5').num_obs); stiction.make('HalfCheetah-v5')"
    )
    assert result.stdout == "17\n" and result.returncode == 1
    assert "needs Gymnasium: ./dev setup;" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "adapter, library, command",
    [
        ("gymnasium", "gymnasium", "./dev setup"),
        ("rsl_rl", "rsl_rl", "./dev setup --train"),
        ("sb3", "stable_baselines3", "./dev setup --train"),
    ],
)
def test_an_adapter_without_its_library_says_what_to_install(adapter, library, command):
    result = run(
        f"import sys; sys.modules['{library}'] = None; import stiction.adapters.{adapter}"
    )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].endswith(f"{library} is not installed: {command}")


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, stiction; gymnasium.register_envs(stiction)",
        "import stiction, gymnasium",
        "import gymnasium",  # with the module in the id
        "import stiction.gymnasium, gymnasium",
    ],
)
def test_ids_are_registered_whatever_is_imported_first(code):
    name = "stiction/HalfCheetah-v5" if "stiction" in code else "stiction:stiction/HalfCheetah-v5"
    result = run(
        f"{code}; e = gymnasium.make_vec({name!r}, num_envs=3, forward_reward_weight=2.0);"
        "print(type(e).__module__, e.num_envs, e.spec.id, e.spec.max_episode_steps)"
    )
    assert result.stdout == "stiction.adapters.gymnasium 3 stiction/HalfCheetah-v5 1000\n", (
        result.stderr
    )
    assert result.stderr == ""


def test_make_agrees_with_make_vec():
    ours = stiction.make("HalfCheetah-v5", 3, seed=4)
    theirs = gymnasium.make_vec("stiction/HalfCheetah-v5", num_envs=3, seed=4)
    again = gymnasium.make_vec(ours.spec)
    assert isinstance(ours, VectorEnv) and ours.spec.id == theirs.spec.id
    for envs in (theirs, again):
        np.testing.assert_array_equal(envs.reset(seed=2)[0], ours.reset(seed=2)[0])


@pytest.mark.parametrize("id", [info.id for info in stiction.Env.tasks()])
def test_every_compiled_task_passes_gymnasiums_checks(id):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of infinite bounds
        check_env(gymnasium.make(f"stiction/{id}").unwrapped, skip_render_check=True)
    envs = gymnasium.make_vec(f"stiction/{id}", num_envs=3)
    obs, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(obs)
    envs.action_space.seed(0)
    for _ in range(5):
        obs, *_ = envs.step(envs.action_space.sample())
        assert envs.observation_space.contains(obs)


def test_an_open_environment_keeps_its_autoreset():
    env = stiction.TaskEnv(Pendulum, 2, autoreset="next_step")
    assert VectorEnv(env).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    with pytest.raises(stiction.ArgumentError, match="open already"):
        VectorEnv(env, autoreset_mode="same_step")


def test_autoreset_mode_is_gymnasiums_keyword():
    """NEXT_STEP unless told otherwise: the wrappers of observations need it."""
    assert VectorEnv(Pendulum, 2).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    for name in ("autoreset_mode", "autoreset"):
        for mode in (AutoresetMode.DISABLED, "disabled", AutoresetMode.DISABLED.value):
            assert VectorEnv(Pendulum, 2, **{name: mode}).env.autoreset == "disabled"
    envs = gymnasium.make_vec("stiction/Hopper-v5", num_envs=2, autoreset_mode="same_step")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    with pytest.raises(stiction.ArgumentError, match="same_step, next_step, disabled"):
        VectorEnv(Pendulum, 2, autoreset_mode="never")
    with pytest.raises(stiction.ArgumentError, match="give one of them"):
        VectorEnv(Pendulum, 2, autoreset_mode="disabled", autoreset="disabled")


@pytest.mark.parametrize("task", ["Hopper-v5", Pendulum])
def test_unknown_options_are_named_with_the_nearest(task):
    for name, value, nearest in [
        ("autoreset_mod", AutoresetMode.DISABLED, "autoreset"),
        ("max_episode_step", [None], "max_episode_steps"),
    ]:
        create = stiction.Env if isinstance(task, str) else stiction.TaskEnv
        with pytest.raises(stiction.ArgumentError, match=f"no option '{name}'.*'{nearest}'"):
            create(task, 2, **{name: value})
    with pytest.raises(stiction.ArgumentError, match="ctrl_cost_weight: given None; expected"):
        stiction.Env("Hopper-v5", ctrl_cost_weight=None)


def test_without_a_seed_every_run_is_another_and_says_its_seed():
    for create in (lambda **o: stiction.make(Pendulum, 2, **o), lambda **o: SingleEnv(Pendulum, **o)):
        first, second = create(), create()
        assert not np.array_equal(first.reset()[0], second.reset()[0])
        assert first.np_random_seed != second.np_random_seed
        again = create(seed=first.np_random_seed)
        first = create(seed=first.np_random_seed)
        np.testing.assert_array_equal(first.reset()[0], again.reset()[0])
        first.reset(seed=7)
        assert first.np_random_seed == 7


@pytest.mark.parametrize("id", [info.id for info in stiction.Env.tasks()])
def test_specs_say_what_gymnasiums_say(id):
    spec = gymnasium.spec(f"stiction/{id}")
    if id in gymnasium.registry:
        theirs = gymnasium.spec(id)
        assert spec.reward_threshold == theirs.reward_threshold
        assert spec.max_episode_steps == theirs.max_episode_steps
    else:
        assert spec.reward_threshold is None


@pytest.mark.parametrize("id", [info.id for info in stiction.Env.tasks()])
def test_infos_have_the_same_keys_in_every_step(id):
    envs = stiction.make(id, 3, seed=1, max_episode_steps=4)
    envs.reset()
    keys = {frozenset(envs.step(envs.action_space.sample())[4]) for _ in range(10)}
    names = envs.env.metric_names
    assert keys == {frozenset([*names, *(f"_{name}" for name in names)])}


@pytest.mark.parametrize("id", [i.id for i in stiction.Env.tasks() if i.id in gymnasium.registry])
def test_resets_report_what_gymnasiums_do(id):
    """The keys but for tendons, and the numbers, from the same state."""
    mujoco = pytest.importorskip("mujoco")
    theirs = gymnasium.make(id).unwrapped
    theirs.reset(seed=0)
    ours, single = stiction.make(id, 3, seed=5), SingleEnv(id, seed=5)
    infos = ours.reset()[1]
    one = single.reset()[1]
    for i in range(3):
        theirs.data.qpos[:] = ours.env.batch.qpos[i]
        mujoco.mj_forward(theirs.model, theirs.data)
        expected = {
            name: value
            for name, value in theirs._get_reset_info().items()
            if not name.startswith("tendon")
        }
        assert {name for name in infos if not name.startswith("_")} == set(expected) == set(one)
        for name, value in expected.items():
            assert infos[f"_{name}"].all()
            assert infos[name][i] == pytest.approx(value, abs=1e-6)
            assert i or one[name] == pytest.approx(value, abs=1e-6)
    theirs.close()


def test_a_reset_within_a_step_reports_the_new_place():
    """As Gymnasium's own vector does: the end in final_info, the beginning in infos."""
    for mode in ("same_step", "next_step"):
        envs = stiction.make("Hopper-v5", 2, seed=3, max_episode_steps=3, autoreset_mode=mode)
        envs.reset()
        for k in range(1, 9):
            obs, *_, infos = envs.step(np.full((2, 3), 0.3, np.float32))
            assert infos["_x_position"].all()
            np.testing.assert_allclose(
                infos["x_position"], envs.env.batch.qpos[:, 0], atol=1e-6, err_msg=f"step {k}"
            )


def test_unknown_id_names_the_nearest():
    with pytest.raises(stiction.ArgumentError, match="HalfCheetah-v5"):
        stiction.make("HalfCheeta-v5")
