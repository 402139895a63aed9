"""Go2Flat against a transcription of legged_gym's and mjlab's definitions into NumPy."""

import mujoco
import numpy as np
import pytest

import stiction

PRESETS = ["mjlab", "legged_gym"]
LEGS = ["FL", "FR", "RL", "RR"]
DT = 0.02
CLEAN = {"observation_noise": False, "randomize": False}


def make(preset, n=16, **options):
    return stiction.Env("Go2Flat", n, preset=preset, autoreset="disabled", **options)


def bodies(env, part):
    return [env.batch.model.body_names.index(f"{leg}_{part}") for leg in LEGS]


def base_axes(quat):
    w, x, y, z = quat
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Definition:
    """Observation and reward of one environment, with what they remember."""

    def __init__(self, env, i):
        self.env, self.i = env, i
        self.a_prev, self.air, self.stood, self.peak = np.zeros(12), np.zeros(4), np.zeros(4), np.zeros(4)
        self.look()

    def look(self):
        b, i = self.env.batch, self.i
        R = base_axes(b.qpos[i, 3:7])
        self.v, self.w, self.g = R.T @ b.qvel[i, :3], b.qvel[i, 3:6], R.T @ [0, 0, -1.0]
        self.q, self.dq_prev = b.qpos[i, 7:] - self.target(), getattr(self, "dq", np.zeros(12))
        self.dq, self.T = b.qvel[i, 6:].astype(float), b.qfrc_actuator[i, 6:].astype(float)
        self.force = b.xfrc_contact[i, :, :3].astype(float)
        feet = bodies(self.env, "foot")
        self.foot_z, self.foot_v = b.xpos[i, feet, 2], b.xvel[i, feet, 3:5]
        self.foot_force = self.force[feet]

    def norm(self, part):
        return np.linalg.norm(self.force[bodies(self.env, part)], axis=1)


class LeggedGym(Definition):
    command_at = slice(9, 12)
    command_scale = np.array([2, 2, 0.25])

    @staticmethod
    def target():
        return np.array([0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5])

    def observation(self, c, a):
        return np.concatenate([2 * self.v, 0.25 * self.w, self.g, self.command_scale * c, self.q,
                               0.05 * self.dq, a])

    def reward(self, c, c_next, a):
        c = c_next  # drawn before the reward
        contact = self.foot_force[:, 2] > 1
        filtered = contact | self.stood.astype(bool)
        first = (self.air > 0) & filtered
        self.air += DT
        terms = {
            "tracking_lin_vel": 1.0 * np.exp(-np.sum((c[:2] - self.v[:2]) ** 2) / 0.25),
            "tracking_ang_vel": 0.5 * np.exp(-(c[2] - self.w[2]) ** 2 / 0.25),
            "lin_vel_z": -2.0 * self.v[2] ** 2,
            "ang_vel_xy": -0.05 * np.sum(self.w[:2] ** 2),
            "orientation": -5.0 * np.sum(self.g[:2] ** 2),
            "torques": -2.5e-5 * np.sum(self.T ** 2),
            "dof_acc": -2.5e-7 * np.sum(((self.dq_prev - self.dq) / DT) ** 2),
            "feet_air_time": 2.0 * np.sum((self.air - 0.5) * first) * (np.hypot(*c[:2]) > 0.1),
            "collision": -1.0 * (np.sum(self.norm("thigh") > 0.1) + np.sum(self.norm("calf") > 0.1)),
            "action_rate": -0.01 * np.sum((self.a_prev - a) ** 2),
        }
        self.air *= ~filtered
        self.stood, self.a_prev = contact, a
        return terms, max(0, DT * sum(terms.values())), np.linalg.norm(self.force[1]) > 1


class Mjlab(Definition):
    command_at = slice(45, 48)
    command_scale = np.ones(3)

    @staticmethod
    def target():
        return np.array([-0.1, 0.9, -1.8, 0.1, 0.9, -1.8] * 2)

    def observation(self, c, a):
        return np.concatenate([self.v, self.w, self.g, self.q, self.dq, a, c])

    def reward(self, c, c_next, a):
        model = self.env.batch.model
        low, high = np.array(model.jnt_range)[1:].T
        middle, half = (low + high) / 2, 0.9 * (high - low) / 2
        q = self.q + self.target()
        u = np.hypot(*c[:2]) + abs(c[2])
        spread = np.array([0.05, 0.05, 0.1] * 4 if u < 0.05 else [0.3, 0.3, 0.6] * 4)
        force = np.linalg.norm(self.foot_force, axis=1)
        contact = force > 0
        first = (self.air > 0) & contact
        self.air += DT
        self.peak = np.maximum(self.peak, self.foot_z)
        speed2 = np.sum(self.foot_v ** 2, axis=1)
        walks = u > 0.05
        terms = {
            "track_linear_velocity":
                2 * np.exp(-(np.sum((c[:2] - self.v[:2]) ** 2) + self.v[2] ** 2) / 0.25),
            "track_angular_velocity":
                2 * np.exp(-((c[2] - self.w[2]) ** 2 + np.sum(self.w[:2] ** 2)) / 0.5),
            "upright": np.exp(-np.sum(self.g[:2] ** 2) / 0.2),
            "pose": np.exp(-np.mean((self.q / spread) ** 2)),
            "dof_pos_limits": -1.0 * np.sum(np.maximum(np.abs(q - middle) - half, 0)),
            "action_rate": -0.1 * np.sum((self.a_prev - a) ** 2),
            "foot_clearance": -2.0 * walks * np.sum(np.abs(self.foot_z - 0.1) * np.sqrt(speed2)),
            "foot_swing_height": -0.25 * walks * np.sum((self.peak / 0.1 - 1) ** 2 * first),
            "foot_slip": -0.1 * walks * np.sum(speed2 * contact),
            "soft_landing": -1e-5 * walks * np.sum(force * first),
        }
        self.air *= ~contact
        self.peak *= ~contact
        self.a_prev = a
        return terms, DT * sum(terms.values()), np.degrees(np.arccos(-self.g[2])) > 70


@pytest.mark.parametrize("preset, kind", [("legged_gym", LeggedGym), ("mjlab", Mjlab)])
def test_definition(preset, kind):
    n, rng = 24, np.random.default_rng(4)
    env = make(preset, n, precision="float64", **CLEAN)
    obs = env.reset(seed=9).copy()
    walkers = [kind(env, i) for i in range(n)]
    action = np.zeros((n, 12))
    seen, ended = {name: 0 for name in env.metric_names}, 0
    for i, w in enumerate(walkers):
        c = obs[i, w.command_at] / w.command_scale
        np.testing.assert_allclose(obs[i], w.observation(c, np.zeros(12)), rtol=1e-5, atol=2e-6)
    for step in range(260):
        action = 0.8 * action + rng.normal(size=(n, 12)) * np.where(rng.random((n, 1)) < 0.03, 4, 0.5)
        last, (obs, reward, terminated, _) = obs, env.step(action)
        used = np.clip(action.astype(np.float32), -5, 5).astype(float)
        for i, w in enumerate(walkers):
            w.look()
            c, c_next = (x[i, w.command_at] / w.command_scale for x in (last, obs))
            np.testing.assert_allclose(obs[i], w.observation(c_next, used[i]), rtol=1e-5, atol=2e-6)
            terms, total, end = w.reward(c, c_next, used[i])
            assert reward[i] == pytest.approx(total, rel=1e-4, abs=1e-5)
            assert terminated[i] == end
            followed = c_next if preset == "legged_gym" else c
            terms = {"reward_" + k: DT * x for k, x in terms.items()}
            terms["error_lin_vel"] = np.hypot(*(followed[:2] - w.v[:2]))
            terms["error_ang_vel"] = abs(followed[2] - w.w[2])
            assert list(terms) == env.metric_names
            for name, x in zip(env.metric_names, env.metrics[i]):
                assert x == pytest.approx(terms[name], rel=1e-4, abs=1e-6), name
                seen[name] += x != 0
            ended += end
    assert min(seen.values()) > 5, seen
    assert 5 < ended < 200 * n


@pytest.mark.parametrize("preset", PRESETS)
def test_actions_are_targets_of_the_servos(preset):
    action = np.random.default_rng(1).normal(size=(1, 12))
    action[0, 0] = 300
    wide, env = make(preset, 1, action_clip=100, **CLEAN), make(preset, 1, **CLEAN)
    assert (wide.action_high == 100).all() and (env.action_high == 5).all()
    assert (env.action_low == -5).all()
    wide.step(action)
    env.step(action)
    scale = {"legged_gym": [0.25] * 3, "mjlab": [0.372753, 0.372753, 0.248502]}[preset] * 4
    target = {"legged_gym": LeggedGym, "mjlab": Mjlab}[preset].target()
    for e, clip in ((wide, 100), (env, 5)):
        np.testing.assert_allclose(e.batch.ctrl[0], target + scale * np.clip(action[0], -clip, clip),
                                   rtol=1e-6)


def commands(env, obs):
    return obs[:, 45:48] if env.task_options["preset"] == "mjlab" else obs[:, 9:12] / [2, 2, 0.25]


def test_commands_of_legged_gym():
    env = make("legged_gym", 3000, **CLEAN)
    c = commands(env, env.reset())
    assert np.abs(c[:, :2]).max() == pytest.approx(1, abs=0.01)
    assert np.abs(c[:, 2]).max() == pytest.approx(1.5, abs=0.01)
    speed = np.hypot(*c[:, :2].T)
    assert speed[speed > 0].min() > 0.2
    assert np.mean(speed == 0) == pytest.approx(np.pi * 0.04 / 4, abs=0.01)
    env = make("legged_gym", 8, **CLEAN)
    first = commands(env, env.reset()).copy()
    for step in range(1, 402):
        c = commands(env, env.step(np.zeros((8, 12)))[0])
        assert np.array_equal(c, first) == (step < 200)
        assert step != 200 or not np.isclose(c, first).any()
        if step == 200:
            second = c.copy()
        assert step < 200 or np.array_equal(c, second) == (step < 400)


def test_commands_of_mjlab():
    env = make("mjlab", 4000, **CLEAN)
    c = commands(env, env.reset())
    stands = ~c.any(axis=1)
    forward = (c[:, 0] >= 0.3) & (c[:, 1] == 0) & (c[:, 2] == 0)
    assert stands.mean() == pytest.approx(0.1, abs=0.02)
    assert forward.mean() == pytest.approx(0.2 * 0.9, abs=0.02)
    assert (np.abs(c).max(0) <= [1, 1, 0.5]).all() and (np.abs(c).max(0) > [0.99, 0.99, 0.49]).all()
    # those that follow a heading turn with the robot: 0.5 (heading* - heading), the others hold
    env = make("mjlab", 1000, pushes=False, **CLEAN)
    c = commands(env, env.reset()).copy()

    def heading():
        w, x, y, z = env.batch.qpos[:, 3:7].T
        return np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    aim, crossed, follows = heading() + 2 * c[:, 2], 0, np.zeros(1000, bool)
    known = np.abs(c[:, 2]) < 0.5
    for _ in range(140):
        before = heading()
        env.batch.qvel[:, 5] = 1.5
        now = commands(env, env.step(np.zeros((1000, 12)))[0])
        crossed += np.sum(follows & (heading() < before - 3))
        assert np.array_equal(now[:, :2], c[:, :2])
        follows |= now[:, 2] != c[:, 2]
        error = (aim - heading() + np.pi) % (2 * np.pi) - np.pi
        sure = follows & known & (np.abs(error) < np.pi - 1e-3)  # at ±π either side is right
        np.testing.assert_allclose(now[sure, 2], np.clip(0.5 * error[sure], -0.5, 0.5), atol=1e-5)
    assert np.sum(follows & known) > 20 and crossed > 20
    # heading* is uniform, so 0.5 error saturates at ±0.5 in a share 1 - 1/π of those that follow
    assert (follows | (np.abs(c[:, 2]) == 0.5)).mean() == pytest.approx(0.3 * 0.8 * 0.9, abs=0.05)


def test_commands_of_mjlab_last_3_to_8_seconds():
    env = make("mjlab", 200, pushes=False, **CLEAN)
    last, since, spans = commands(env, env.reset()).copy(), np.zeros(200), []
    for step in range(1, 900):
        c = commands(env, env.step(np.zeros((200, 12)))[0])
        for i in np.flatnonzero((c[:, :2] != last[:, :2]).any(axis=1)):
            spans.append(DT * (step - since[i]))
            since[i] = step
        last = c.copy()
    spans = np.array(spans)
    # two draws in a row may both stand: then a span is two or more
    assert spans.min() >= 3 - 1e-9 and np.mean(spans <= 8 + DT) > 0.95
    assert np.mean(spans[spans <= 8 + DT]) == pytest.approx(5.5, abs=0.4)


def test_own_ranges_of_commands():
    env = make("mjlab", 500, command_x=(0.5, 0.6), command_y=(0, 0.01), command_yaw=(-2, -1.9))
    c = commands(env, env.reset())
    c = c[c.any(axis=1)]
    assert 0.3 <= c[:, 0].min() and c[:, 0].max() <= 0.6 and c[:, 1].max() <= 0.01
    assert c[c[:, 1] != 0, 2].max() <= -1.9
    with pytest.raises(ValueError, match="command_x"):
        make("mjlab", command_x=(1, 0))
    with pytest.raises(ValueError, match="preset"):
        make("anymal")


@pytest.mark.parametrize("preset", PRESETS)
def test_pushes(preset):
    n = 64
    still, pushed = (make(preset, n, pushes=p, **CLEAN) for p in (False, True))
    for env in (still, pushed):
        env.reset(seed=3)
    times = [[] for _ in range(n)]
    sizes = []
    for step in range(1600 if preset == "legged_gym" else 300):
        qpos, qvel = np.array(still.batch.qpos), np.array(still.batch.qvel)
        if preset == "legged_gym":
            qvel[:, :2] = 1.5  # what a push replaces
        for env in (still, pushed):  # the same state before: what differs after is a push
            env.batch.set_state(qpos=qpos, qvel=qvel)
            env.step(np.zeros((n, 12)))
        change = np.array(pushed.batch.qvel[:, :6]) - still.batch.qvel[:, :6]
        for i in np.flatnonzero(change.any(axis=1)):
            times[i].append(DT * step)
            sizes.append(pushed.batch.qvel[i, :3].copy() if preset == "legged_gym" else change[i])
    first = np.array([t[0] for t in times])
    gaps = np.concatenate([np.diff(t) for t in times])
    sizes = np.array(sizes)
    if preset == "legged_gym":
        assert first.max() < 15 and first.max() - first.min() > 10
        np.testing.assert_allclose(gaps, 15, atol=1.5 * DT)
        # the ground has had 0.02 s
        assert 0.7 < np.abs(sizes[:, :2]).max() < 1.3
    else:
        assert 1 - DT <= min(first.min(), gaps.min()) and max(first.max(), gaps.max()) <= 3 + DT
        assert (np.abs(sizes[:, :3]).max(0) < 1.2 * np.array([0.5, 0.5, 0.4])).all()
        assert (np.abs(sizes).max(0) > 0.2).all()


def test_randomization_of_mjlab():
    env = make("mjlab", 500)
    model, b = env.batch.model, env.batch
    feet = [model.geom_names.index(f"{leg}_foot") for leg in LEGS]
    friction = np.array(b.param("geom_friction"))
    assert (friction[:, feet] == friction[:, feet[:1]]).all()
    assert friction[:, feet].min() == pytest.approx(0.3, abs=0.02)
    assert friction[:, feet].max() == pytest.approx(1.5, abs=0.02)
    others = np.delete(np.arange(model.ngeom), feet)
    assert (friction[:, others] == np.float32(np.array(model.geom_friction)[others, 0])).all()
    shift = np.array(b.param("body_ipos")) - np.array(model.body_ipos)
    assert not shift[:, 2:].any()
    np.testing.assert_allclose(np.abs(shift[:, 1]).max(0), [0.025, 0.025, 0.03], rtol=0.02)
    assert not b.param_is_own("body_mass")
    for _ in range(2):  # the first reset begins episode 0 again
        env.reset()
    np.testing.assert_array_equal(friction, b.param("geom_friction"))


def test_randomization_of_legged_gym():
    env = make("legged_gym", 500)
    model, b = env.batch.model, env.batch
    friction, mass = np.array(b.param("geom_friction")), np.array(b.param("body_mass"))
    assert (friction[:, 1:] == friction[:, 1:2]).all()
    assert (friction[:, 1].min(), friction[:, 1].max()) == pytest.approx((0.5, 1.25), abs=0.01)
    added = mass - np.array(model.body_mass)
    assert (added[:, 1].min(), added[:, 1].max()) == pytest.approx((-1, 3), abs=0.05)
    assert np.abs(np.delete(added, 1, axis=1)).max() < 1e-6
    assert not b.param_is_own("body_ipos")
    plain = make("legged_gym", 4, randomize=False)
    assert not any(plain.batch.param_is_own(p) for p in ("geom_friction", "body_mass", "body_ipos"))


@pytest.mark.parametrize("preset, scale, size", [
    ("legged_gym", [2] * 3 + [0.25] * 3 + [1] * 3 + [0] * 3 + [1] * 12 + [0.05] * 12 + [0] * 12,
     [0.1] * 3 + [0.2] * 3 + [0.05] * 3 + [0] * 3 + [0.01] * 12 + [1.5] * 12 + [0] * 12),
    ("mjlab", [1] * 48, [0.5] * 3 + [0.2] * 3 + [0.05] * 3 + [0.01] * 12 + [1.5] * 12 + [0] * 15)])
def test_noise(preset, scale, size):
    n = 400
    clean, noisy = (make(preset, n, observation_noise=x, randomize=False) for x in (False, True))
    errors = []
    for env in (clean, noisy):
        env.reset(seed=1)
    for _ in range(6):
        action = np.zeros((n, 12))
        errors.append(noisy.step(action)[0] - clean.step(action)[0])
        np.testing.assert_array_equal(noisy.batch.qpos, clean.batch.qpos)
    errors, bound = np.array(errors), np.array(scale) * size
    if preset == "mjlab":  # an encoder's error stays
        bias = errors[:, :, 9:21].mean(0)
        assert 0.014 < np.abs(bias).max() < 0.015 + 0.01
        np.testing.assert_allclose(bias.std(), 0.015 / np.sqrt(3), rtol=0.1)
        errors[:, :, 9:21] -= bias
        bound[9:21] *= 2
    assert (np.abs(errors).max((0, 1)) <= bound + 1e-6).all()
    known = np.flatnonzero(bound)
    if preset == "legged_gym":
        np.testing.assert_allclose(errors[..., known].std((0, 1)), bound[known] / np.sqrt(3), rtol=0.06)
    # no two numbers share a draw
    assert np.abs(np.corrcoef(errors[..., known].reshape(-1, len(known)).T)
                  - np.eye(len(known))).max() < 0.1


def test_reset_poses():
    env = make("mjlab", 1000, randomize=False)
    q = np.array(env.batch.qpos)
    np.testing.assert_allclose(np.abs(q[:, :2]).max(0), 0.5, rtol=0.02)
    assert (q[:, 2].min(), q[:, 2].max()) == pytest.approx((0.288, 0.328), abs=1e-3)
    assert not q[:, 4:6].any() and not env.batch.qvel.any()
    assert np.abs(2 * np.arctan2(q[:, 6], q[:, 3])).max() == pytest.approx(3.14, abs=0.02)
    np.testing.assert_allclose(q[:, 7:], [Mjlab.target()] * 1000)
    env = make("legged_gym", 1000, randomize=False)
    q, factor = np.array(env.batch.qpos), env.batch.qpos[:, 7:] / LeggedGym.target()
    np.testing.assert_array_equal(q[:, :7], [[0, 0, 0.42, 1, 0, 0, 0]] * 1000)
    assert (factor.min(), factor.max()) == pytest.approx((0.5, 1.5), abs=2e-3)
    assert np.abs(env.batch.qvel[:, :6]).max() == pytest.approx(0.5, abs=1e-2)
    assert not env.batch.qvel[:, 6:].any()
    assert not env.batch.xfrc_contact.any()  # above the ground


@pytest.mark.parametrize("preset", PRESETS)
def test_feet_carry_a_standing_robot(preset):
    env = make(preset, 4, pushes=False, **CLEAN)
    env.batch.set_state(qpos=env.batch.qpos, qvel=np.zeros((4, 18)))
    target = {"legged_gym": LeggedGym, "mjlab": Mjlab}[preset].target()
    qpos = np.array(env.batch.qpos)
    qpos[:, 2], qpos[:, 7:] = 0.32, target
    env.batch.set_state(qpos=qpos, qvel=np.zeros((4, 18)))
    for _ in range(200):
        env.step(np.zeros((4, 12)))
    force = np.array(env.batch.xfrc_contact[:, :, :3])
    feet = bodies(env, "foot")
    np.testing.assert_allclose(force[:, feet, 2].sum(1), 9.81 * 15.206408, rtol=2e-3)
    assert (force[:, feet, 2] > 5).all()
    assert not np.delete(force[:, 1:], np.array(feet) - 1, axis=1).any()


def inertia_matrix(xml, qpos):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    columns = np.eye(model.nv)
    for column in columns:
        mujoco.mj_mulM(model, data, column, column.copy())
    return columns - np.diag(model.dof_armature), model


def test_models_are_the_published_robot():
    published = stiction.assets.path("go2", floor=False).read_text()
    rng = np.random.default_rng(0)
    texts = {p: make(p, 1).model_xml for p in PRESETS}
    for _ in range(3):
        qpos = rng.normal(size=19) * 0.5
        expected, theirs = inertia_matrix(published, qpos)
        for text in texts.values():
            matrix, ours = inertia_matrix(text, qpos)
            np.testing.assert_allclose(matrix, expected, atol=1e-9)
            np.testing.assert_allclose(ours.jnt_range, theirs.jnt_range)
            joints = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, i)
                      for m in (ours, theirs) for i in range(1, 13)]
            assert joints[:12] == joints[12:]
    a, b = (texts[p].splitlines() for p in PRESETS)
    differing = [line for line, other in zip(a, b) if line != other]
    assert len(a) == len(b)
    assert all("armature" in x or "<position kp" in x or "mujoco model" in x or "<!--" in x
               for x in differing), differing
