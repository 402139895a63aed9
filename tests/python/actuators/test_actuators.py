"""Models of actuators against their curves and closed forms, and what they are within a task."""

import math

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.actuators import SERVOS, Actuator, DcMotor, Lstm, LstmNetwork, Mlp, Network, Pd, Servo, SpeedLimited
from stiction.actuators.servo import Parameters
from stiction.terms import Action, Event, Observation

INERTIA = 0.02


def rotor(actuator="<motor joint='hinge' gear='3'/>", gravity=0.0, damping=0.0):
    """Two wheels, the second with the actuator; at `gravity` they are arms of 1 kg at 0.1 m."""
    return f"""
<mujoco>
  <option timestep="0.002" gravity="0 0 {-gravity}"/>
  <worldbody>
    <body name="free"><joint name="other" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body>
    <body name="wheel"><joint name="hinge" axis="0 1 0" damping="{damping}"/>
      <inertial pos="{0.1 if gravity else 0} 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>"""


class Wheel(stiction.TermTask):
    """One physics step a control step; the action is the target angle."""

    model = rotor()
    frame_skip = 1
    max_episode_steps = 0
    observations = {"joints": Observation(terms.joint_positions, relative=False), "speeds": Observation(terms.joint_velocities)}


def wheel(actuator, num_envs=1, **more):
    return stiction.TaskEnv(type("Task", (Wheel,), {"actuators": {"wheel": actuator}} | more), num_envs)


def at(env, q, qd):
    """Wheels with those angles and speeds."""
    n = env.num_envs
    env.batch.reset(qpos=np.stack([np.zeros(n), np.broadcast_to(q, n)], 1), qvel=np.stack([np.zeros(n), np.broadcast_to(qd, n)], 1))
    env.task.robot.forget()


def applied(env, target, q, qd):
    """The torques that the engine applied to wheels that were there."""
    at(env, q, qd)
    env.step(np.broadcast_to(np.asarray(target, np.float32), env.num_envs).reshape(-1, 1))
    return np.array(env.batch.qfrc_actuator[:, 1], float)


SPEEDS = np.linspace(-45, 45, 61)


def test_a_dc_motor_keeps_to_its_curve():
    env = wheel(DcMotor(kp=1000, kd=0, limit=20, saturation=24, no_load_speed=30), 61)
    full = applied(env, 10, 0, SPEEDS)
    np.testing.assert_allclose(full, np.clip(24 * (1 - SPEEDS / 30), -20, 20), atol=2e-5)
    back = applied(env, -10, 0, SPEEDS)
    np.testing.assert_allclose(back, np.clip(24 * (-1 - SPEEDS / 30), -20, 20), atol=2e-5)
    gentle = applied(env, 0.003, 0, SPEEDS)  # 3 N m
    np.testing.assert_allclose(gentle, np.clip(3, np.clip(24 * (-1 - SPEEDS / 30), -20, 20),
                                               np.clip(24 * (1 - SPEEDS / 30), -20, 20)), atol=2e-5)  # fmt: skip


def test_a_dc_motor_spins_up_as_its_differential_equation_says():
    env = wheel(DcMotor(kp=1e4, kd=0, saturation=2.0, no_load_speed=40))
    at(env, 0, 0)
    rate = 2.0 / (INERTIA * 40)
    for step in range(1, 301):
        env.step(np.full((1, 1), 1e3, np.float32))
        if step % 100 == 0:
            # explicit Euler of the same equation, which is off the exponential by half a step's curvature
            assert env.batch.qvel[0, 1] == pytest.approx(40 * (1 - (1 - rate * 0.002) ** step), rel=1e-5)
            decayed, off = math.exp(-rate * 0.002 * step), rate * 0.002 / 2 * rate * 0.002 * step
            assert env.batch.qvel[0, 1] == pytest.approx(40 * (1 - decayed), abs=1.02 * 40 * off * decayed)


def test_pd_is_its_law_within_its_limit():
    env = wheel(Pd(kp=8, kd=0.3, limit=5), 61)
    q = np.linspace(-1, 1, 61)
    torque = applied(env, 0.25, q, SPEEDS)
    np.testing.assert_allclose(torque, np.clip(8 * (0.25 - q) - 0.3 * SPEEDS, -5, 5), atol=1e-5)
    assert (np.abs(torque) == 5).any() and (np.abs(torque) < 5).any()


def test_limits_by_speed_are_straight_between_their_points():
    table = ((0.0, 6.0), (10.0, 6.0), (20.0, 2.0), (40.0, 0.5))
    env = wheel(SpeedLimited(kp=1e3, kd=0, limits=table), 61)
    np.testing.assert_allclose(applied(env, 10, 0, SPEEDS), np.interp(np.abs(SPEEDS), *np.transpose(table)), atol=2e-6)


@pytest.mark.parametrize("servo", [True, False], ids=["position servo", "motor"])
def test_the_models_gains_do_not_matter(servo):
    model = rotor("<position joint='hinge' kp='77' kv='3' ctrlrange='-0.1 0.1' gear='2'/>" if servo else
                  "<motor joint='hinge' gear='2' ctrlrange='-2 2'/>")  # fmt: skip
    env = wheel(Pd(kp=8, kd=0.5), model=model)
    assert applied(env, 0.4, 0.1, 2.0) == pytest.approx(8 * 0.3 - 1.0, abs=1e-5)
    assert applied(env, 5, 0.0, 0.0) == pytest.approx(40 if servo else 4)  # a motor's range is one of torques


class Follow(Actuator):
    """The torque is the target; it remembers what it was asked."""

    def setup(self):
        self.asked = self.xp.zeros((0, self.task.num_envs))

    def torque(self, target, q, qd):
        self.asked = np.concatenate([self.asked, target.T])
        return 1e-3 * target


def test_targets_come_late_by_whole_physics_steps():
    env = wheel(Follow(delay=(0, 6)), 40, frame_skip=4)
    late = np.array(env.task.actuators["wheel"]._delay.steps)
    assert set(late) == set(range(7))
    for k in range(1, 9):
        env.step(np.full((40, 1), k, np.float32))
    asked = env.task.actuators["wheel"].asked
    now = np.arange(32)[:, None] - late
    np.testing.assert_array_equal(asked, np.where(now < 0, 1, now // 4 + 1))


def test_gains_are_drawn_for_each_episode_within_their_range():
    env = wheel(Pd(kp=10, kd=0, gains=(0.5, 1.5)), 200)
    first = applied(env, 1, 0, 0) / 10
    assert 0.5 <= first.min() < 0.52 and 1.48 < first.max() <= 1.5
    np.testing.assert_array_equal(applied(env, 1, 0, 0) / 10, first)
    env.reset()
    assert (applied(env, 1, 0, 0) / 10 != first).all()


def test_events_may_change_the_numbers_of_an_environment():
    def weaken(task, ids, draw):
        task.actuators["wheel"].kp[ids] = 10 * draw.uniform(0.1, 1.0)

    env = wheel(Pd(kp=10, kd=0), 50, events={"weaken": Event(weaken)})
    torque = applied(env, 1, 0, 0)
    assert 1 <= torque.min() < 2 and 9 < torque.max() <= 10


@pytest.mark.parametrize("servo", [True, False], ids=["position servo", "motor"])
def test_strength_scales_what_the_law_asks_for(servo):
    model = rotor("<position joint='hinge' kp='77' kv='3' gear='2'/>" if servo else "<motor joint='hinge' gear='2'/>")
    weak = Event(terms.randomize, param=stiction.randomization.actuator_strength(0.5, 0.5))
    env = wheel(Pd(kp=8, kd=0.5), model=model, events={"weak": weak})
    assert applied(env, 0.4, 0.1, 2.0) == pytest.approx(0.5 * (8 * 0.3 - 1.0), abs=1e-5)


# ------------------------------------------------------------------------------- servos


def friction(p, torque, external, qd):
    """BAM's model M6, written out for one servo."""
    s = math.exp(-(abs(qd / p.speed_stribeck) ** p.alpha))
    f = p.friction_base + s * p.friction_stribeck
    f += abs(external * p.load_external - torque * p.load_motor)
    f += s * abs(external * p.load_external_stribeck - torque * p.load_motor_stribeck)
    if np.sign(external) != np.sign(torque):
        if abs(external) < abs(torque):
            f += s * p.load_external_quadratic * external**2
        if abs(external) > abs(torque):
            f += s * p.load_motor_quadratic * torque**2
    return f


@pytest.mark.parametrize("name", SERVOS)
def test_friction_of_servos_is_bams(name):
    env, p = wheel(Servo(servo=name), 200), SERVOS[name]
    rng = np.random.default_rng(1)
    torque, external, qd = rng.normal(size=(3, 200, 1)) * [[[3.0]], [[3.0]], [[4.0]]]
    external[:20] = 0
    value = env.task.actuators["wheel"].friction(torque, external, qd)
    np.testing.assert_allclose(value[:, 0], [friction(p, *x) for x in zip(torque[:, 0], external[:, 0], qd[:, 0])], rtol=1e-12)


@pytest.mark.parametrize("name", SERVOS)
def test_servos_run_at_the_speed_where_motor_and_friction_balance(name):
    from scipy.optimize import brentq

    p, env = SERVOS[name], wheel(Servo(servo=name))
    at(env, 0, 0)
    for _ in range(4000):
        env.step(np.full((1, 1), 1e4, np.float32))
    stalled = p.kt * p.vin * p.max_pwm / p.resistance
    emf = p.kt**2 / p.resistance
    rest = lambda w: stalled - (emf + p.friction_viscous) * w - friction(p, stalled - emf * w, 0.0, w)
    assert env.batch.qvel[0, 1] == pytest.approx(brentq(rest, 0, 100), rel=2e-3)
    assert env.batch.param("dof_armature")[0, 1] == pytest.approx(p.armature)


def test_a_servo_holds_a_load_within_its_friction_where_it_is_not_asked_to_move():
    light = wheel(Servo(servo="mx64"), model=rotor(gravity=0.05))  # 5 mN m of 0.12 N m
    heavy = wheel(Servo(servo="mx64"), model=rotor(gravity=9.81))  # 1 N m
    for env in (light, heavy):
        at(env, 0, 0)
        for _ in range(500):
            env.step(np.zeros((1, 1), np.float32))
    assert abs(light.batch.qpos[0, 1]) < 1e-3
    # it sags until its position control and friction carry the load
    p, sag = SERVOS["mx64"], float(heavy.batch.qpos[0, 1])
    stiffness = p.kt * p.vin * p.kp * p.error_gain / p.resistance
    load = 9.81 * 0.1
    slack = friction(p, -stiffness * sag, load, 0.0)
    assert abs(heavy.batch.qvel[0, 1]) < 1e-3
    assert (load - slack) / stiffness - 1e-3 <= sag <= load / stiffness


# ------------------------------------------------------------------------------- networks


def random_mlp(seed=0, inputs=6, activations=("softsign", "elu", "linear")):
    rng = np.random.default_rng(seed)
    widths = [inputs, *[32] * (len(activations) - 1), 1]
    return Mlp(tuple(rng.normal(size=pair) / math.sqrt(pair[0]) for pair in zip(widths, widths[1:])),
               tuple(0.1 * rng.normal(size=w) for w in widths[1:]), activations)  # fmt: skip


def onnx_of(mlp, path, fused):
    onnx = pytest.importorskip("onnx")
    names = {"relu": "Relu", "elu": "Elu", "tanh": "Tanh", "softsign": "Softsign", "sigmoid": "Sigmoid"}
    nodes, constants, now = [], [], "x"
    add = lambda name, x: constants.append(onnx.numpy_helper.from_array(np.ascontiguousarray(x), name)) or name
    for k, (w, b, name) in enumerate(zip(mlp.weights, mlp.biases, mlp.activations)):
        if fused:
            nodes.append(onnx.helper.make_node("Gemm", [now, add(f"w{k}", w.T), add(f"b{k}", b)], [f"y{k}"], transB=1))
        else:
            nodes.append(onnx.helper.make_node("MatMul", [now, add(f"w{k}", w)], [f"m{k}"]))
            nodes.append(onnx.helper.make_node("Add", [add(f"b{k}", b), f"m{k}"], [f"y{k}"]))
        now = f"y{k}"
        if name != "linear":
            nodes.append(onnx.helper.make_node(names[name], [now], [f"a{k}"]))
            now = f"a{k}"
    value = lambda name, width: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])
    graph = onnx.helper.make_graph(nodes, "net", [value("x", mlp.inputs)], [value(now, 1)], constants)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9), path)


@pytest.mark.parametrize("fused", [True, False], ids=["Gemm", "MatMul"])
@pytest.mark.parametrize("activations", [("softsign", "elu", "linear"), ("tanh", "sigmoid", "relu", "linear")], ids=len)
def test_networks_are_onnxruntimes(tmp_path, fused, activations):
    onnxruntime = pytest.importorskip("onnxruntime")
    mlp = random_mlp(activations=activations)
    onnx_of(mlp, tmp_path / "net.onnx", fused)
    x = np.random.default_rng(2).normal(size=(3000, 6)).astype(np.float32)
    (theirs,) = onnxruntime.InferenceSession(tmp_path / "net.onnx").run(None, {"x": x})
    ours = Mlp.load(tmp_path / "net.onnx")
    np.testing.assert_allclose(ours(x), theirs, atol=1e-6)
    assert ours.activations == activations


def test_networks_of_torchscript(tmp_path):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.Softsign(), torch.nn.Linear(32, 32), torch.nn.ELU(), torch.nn.Linear(32, 1))
    torch.jit.script(net).save(tmp_path / "net.pt")
    x = np.random.default_rng(2).normal(size=(100, 6)).astype(np.float32)
    np.testing.assert_allclose(Mlp.load(tmp_path / "net.pt")(x), net(torch.from_numpy(x)).detach().numpy(), atol=1e-6)


def test_a_row_gets_the_same_bits_alone_and_among_others():
    mlp, x = random_mlp(), np.random.default_rng(3).normal(size=(4097, 6)).astype(np.float32)
    whole = mlp(x)
    for i in (0, 1, 511, 512, 2047, 4095, 4096):
        np.testing.assert_array_equal(mlp(x[i : i + 1]), whole[i : i + 1])
    np.testing.assert_array_equal(mlp(x[77:1000]), whole[77:1000])


def test_a_network_sees_errors_and_speeds_of_the_steps_that_it_asks_for(tmp_path):
    mlp = random_mlp(4)
    mlp.save(tmp_path / "net.npz")
    env = wheel(Network(network=tmp_path / "net.npz", past=(0, 2, 3), position_scale=-1.5, velocity_scale=0.2, torque_scale=0.7), 3)
    states = []
    for step in range(12):
        q, qd = np.array(env.batch.qpos[:, 1], np.float32), np.array(env.batch.qvel[:, 1])
        target = np.sin(0.3 * step + np.arange(3)).astype(np.float32)
        states.append((-1.5 * (target - q), 0.2 * qd))
        env.step(target[:, None])
        seen = [states[max(step - k, 0)] for k in (0, 2, 3)]
        x = np.stack([s[0] for s in seen] + [s[1] for s in seen], 1)
        np.testing.assert_allclose(env.batch.qfrc_actuator[:, 1], 0.7 * mlp(x)[:, 0], atol=2e-6)


# ------------------------------------------------------------------------------- within a task


class Legs(stiction.TermTask):
    """A Go2 whose front legs are DC motors that come late and whose hind legs a network moves."""

    model = stiction.assets.path("go2")
    options = stiction.Options(timestep=0.005)
    frame_skip = 4
    max_episode_steps = 12
    actuators = {
        "front": DcMotor("F.*", kp=25, kd=0.5, limit=23.5, saturation=23.5, no_load_speed=30, delay=(0, 5), gains=(0.8, 1.2)),
        "hind": Network("R.*", network=random_mlp(5), torque_scale=5.0),
    }
    actions = {"legs": Action(scale=0.25, offset="start", delay=(0, 1))}
    observations = {"joints": Observation(terms.joint_positions), "speeds": Observation(terms.joint_velocities)}
    terminations = {"fell": terms.Termination(terms.tilted, degrees=60)}


def act(step, n, first=0):
    return np.sin(step + first + np.arange(n)[:, None] + np.arange(12)).astype(np.float32)


def test_an_environment_does_the_same_alone_among_others_and_after_a_snapshot():
    env, one = stiction.TaskEnv(Legs, 6, seed=2), stiction.TaskEnv(Legs, 1, seed=2 + 4)
    for step in range(30):
        env.step(act(step, 6)), one.step(act(step, 1, 4))
        np.testing.assert_array_equal(env.obs[4:5], one.obs)
        if step == 16:
            kept = env.snapshot()
    last = env.obs.copy()
    env.restore(kept)
    for step in range(17, 30):
        env.step(act(step, 6))
    np.testing.assert_array_equal(env.obs, last)


def test_a_step_in_which_a_law_fails_has_not_happened():
    class Fails(Pd):
        def torque(self, target, q, qd):
            if self.task.fails and self.task.batch.counts.env_steps % 8 == 4:
                raise RuntimeError("broken wire")
            return super().torque(target, q, qd)

    class Task(Wheel):
        fails = False
        frame_skip = 4
        actuators = {"wheel": Fails(kp=5, kd=0.1, delay=(2, 2))}

    env, other = stiction.TaskEnv(Task, 2), stiction.TaskEnv(Task, 2)
    for k in range(3):
        env.step(np.full((2, 1), k, np.float32)), other.step(np.full((2, 1), k, np.float32))
    env.task.fails = True
    with pytest.raises(RuntimeError, match="broken wire") as e:
        env.step(np.ones((2, 1), np.float32))
    assert "in Task.actuators['wheel']" in e.value.__notes__
    env.task.fails = False
    for _ in range(3):
        env.step(np.ones((2, 1), np.float32)), other.step(np.ones((2, 1), np.float32))
        np.testing.assert_array_equal(env.obs, other.obs)


def test_a_hook_of_ones_own_comes_before_each_physics_step():
    class Counts(stiction.Task):
        model, frame_skip, max_episode_steps = rotor(), 5, 3

        def setup(self):
            self.calls = []

        def drive(self, step):
            self.calls.append((step, float(self.batch.qpos[0, 1])))
            self.batch.ctrl[:] = 1 - step % 2

        def observe(self):
            return self.batch.qpos[:]

        def reward(self):
            return self.batch.qpos[:, 1]

    env = stiction.TaskEnv(Counts, 1)
    env.step(np.zeros((1, 1), np.float32))
    steps, angles = zip(*env.task.calls)
    assert steps == (0, 1, 2, 3, 4) and all(a < b for a, b in zip(angles, angles[1:]))
    expected, speed = 0.0, 0.0  # 3 N m in steps 0, 2, 4
    for step in range(5):
        speed += 0.002 * 3 * (1 - step % 2) / INERTIA
        expected += 0.002 * speed
    assert env.batch.qpos[0, 1] == pytest.approx(expected, rel=1e-5)


def test_mujoco_moves_the_same_motors():
    pytest.importorskip("mujoco")
    from stiction.learning.mujoco_engine import MujocoEnv

    Task = type("Task", (Wheel,), {"actuators": {"wheel": DcMotor(kp=5, kd=0.2, saturation=1.0, no_load_speed=10)}, "frame_skip": 4})
    ours = stiction.TaskEnv(Task, 2, precision="float64")
    theirs = MujocoEnv(stiction.TaskEnv(Task, 2, precision="float64"))
    for step in range(50):
        action = np.array([[1.0], [-2.0]], np.float32)
        ours.step(action), theirs.step(action)
    np.testing.assert_allclose(theirs.obs, ours.obs, atol=1e-4)
    assert abs(ours.obs).max() > 0.3


@pytest.mark.parametrize(
    ("actuators", "message"),
    [
        ({"a": Pd(kp=-1)}, r"Task.actuators\['a'\]: kp = -1: must be >= 0"),
        ({"a": Pd("arm", kp=1)}, "no actuator fits 'arm'"),
        ({"a": Pd(kp=1), "b": Pd(kp=1)}, "Task.actuators: two terms write hinge_motor"),
        ({"a": Pd(kp=1, delay=(3, 1))}, r"delay = \(3, 1\): must be \(least, most\) physics steps"),
        ({"a": Pd(kp=1, gains=(2, 1))}, "gains"),
        ({"a": DcMotor(kp=1, saturation=0)}, "saturation = 0: must be > 0"),
        ({"a": SpeedLimited(kp=1, limits=((1, 2), (0, 3)))}, "speeds rising from 0"),
        ({"a": Servo(servo="mx65")}, "no servo 'mx65'; nearest: 'mx64'"),
        ({"a": Servo(vin=0)}, "vin = 0: must be > 0"),
        ({"a": Servo(servo=Parameters(1, 0, 1, 0, 0, 1, 1, 1))}, "resistance"),
        ({"a": Network()}, "network: not set"),
        ({"a": Network(network=random_mlp(), past=(0, 1))}, "6 inputs, 1 outputs; expected 4 and 1"),
        ({"a": Network(network="none.onnx")}, "no such file: none.onnx"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_by_name(actuators, message):
    model = rotor("<motor name='hinge_motor' joint='hinge'/>")
    with pytest.raises(stiction.ArgumentError, match=message):
        stiction.TaskEnv(type("Task", (Wheel,), {"actuators": actuators, "model": model}), 1)


def test_actuators_on_tendons_are_refused():
    model = rotor("<motor name='cable' tendon='t'/>").replace(
        "<actuator>", "<tendon><fixed name='t'><joint joint='hinge' coef='1'/></fixed></tendon><actuator>")
    with pytest.raises(stiction.ArgumentError, match="cable is on no hinge or slide"):
        wheel(Pd(kp=1), model=model)


def test_networks_that_are_not_read_are_refused(tmp_path):
    with pytest.raises(stiction.ArgumentError, match="layer 0: no activation 'gelu'"):
        Mlp((np.ones((2, 1)),), (np.ones(1),), ("gelu",))
    with pytest.raises(stiction.ArgumentError, match="do not fit"):
        Mlp((np.ones((2, 3)), np.ones((2, 1))), (np.ones(3), np.ones(1)), ("relu", "linear"))
    (tmp_path / "a.npz").write_bytes(b"nothing")
    with pytest.raises(stiction.Error, match="a.npz: no network"):
        Mlp.load(tmp_path / "a.npz")
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    pytest.importorskip("onnx")
    with pytest.raises(stiction.Error, match="a.onnx"):
        Mlp.load(tmp_path / "a.onnx")


def random_lstm(seed=1, sizes=(8, 8)):
    rng, layers, width = np.random.default_rng(seed), [], 2
    for h in sizes:
        layers.append(tuple(rng.normal(size=s) / 2 for s in ((width, 4 * h), (h, 4 * h), (4 * h,))))
        width = h
    return Lstm(tuple(layers), Mlp((rng.normal(size=(width, 1)),), (rng.normal(size=1),), ("linear",)))


def lstm_by_hand(lstm, xs):
    """Outputs for a row of inputs (T, 2), in double precision."""
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    states, out = [(np.zeros(h), np.zeros(h)) for h in lstm.sizes], []
    for x in xs:
        for k, (w, r, b) in enumerate(lstm.weights):
            h, c = states[k]
            i, f, g, o = np.split(x @ w + h @ r + b, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            x = sigmoid(o) * np.tanh(c)
            states[k] = x, c
        out.append(float(x @ lstm.head.weights[0][:, 0] + lstm.head.biases[0][0]))
    return np.array(out)


def test_lstms_remember_within_an_episode():
    env = wheel(LstmNetwork(network=random_lstm(), position_scale=2.0, velocity_scale=0.3, torque_scale=0.5), 3, max_episode_steps=20)
    xs, torques = [], []
    for step in range(20):
        target = np.sin(0.4 * step + np.arange(3)).astype(np.float32)
        xs.append(np.stack([2 * (target - env.batch.qpos[:, 1]), 0.3 * env.batch.qvel[:, 1]], 1))
        env.step(target[:, None])
        torques.append(np.array(env.batch.qfrc_actuator[:, 1]) if step < 19 else np.zeros(3))
    for i in range(3):
        wanted = 0.5 * lstm_by_hand(random_lstm(), np.array(xs, float)[:, i])
        np.testing.assert_allclose(np.array(torques)[:19, i], wanted[:19], atol=3e-6)
    x0 = np.stack([2 * (1 - env.batch.qpos[:, 1]), 0.3 * env.batch.qvel[:, 1]], 1)
    env.step(np.ones((3, 1), np.float32))  # the first of the next episode
    np.testing.assert_allclose(env.batch.qfrc_actuator[:, 1], [0.5 * lstm_by_hand(random_lstm(), [x])[0] for x in x0], atol=3e-6)


def test_lstms_are_torchs():
    torch = pytest.importorskip("torch")
    lstm, net = random_lstm(sizes=(8,)), torch.nn.LSTM(2, 8)
    w, r, b = (torch.tensor(np.array(x), dtype=torch.float32) for x in lstm.weights[0])
    with torch.no_grad():
        net.weight_ih_l0.copy_(w.T), net.weight_hh_l0.copy_(r.T), net.bias_ih_l0.copy_(b), net.bias_hh_l0.zero_()
        x = torch.randn(12, 5, 2)
        theirs = net(x)[0].numpy() @ np.array(lstm.head.weights[0]) + np.array(lstm.head.biases[0])
    state = [(np.zeros((5, 8), np.float32),) * 2]
    for t in range(12):
        y, state = lstm(x[t].numpy(), state)
        np.testing.assert_allclose(y, theirs[t], atol=1e-6)


def test_lstms_that_do_not_fit_are_refused():
    with pytest.raises(stiction.ArgumentError, match="layer 0: .*expected"):
        Lstm(((np.ones((2, 8)), np.ones((3, 12)), np.ones(12)),), random_mlp())
    with pytest.raises(stiction.ArgumentError, match="the head takes 6 numbers; the last layer gives 2"):
        Lstm(((np.ones((2, 8)), np.ones((2, 8)), np.ones(8)),), random_mlp())
    with pytest.raises(stiction.ArgumentError, match="expected a stiction.actuators.Lstm"):
        wheel(LstmNetwork(network=random_mlp()))
