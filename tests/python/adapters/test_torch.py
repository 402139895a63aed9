"""stiction.torch: gradients that torch checks itself."""

import numpy as np
import pytest

import stiction
from jacobian_scenes import SCENES

torch = pytest.importorskip("torch", reason="torch is missing: ./dev setup --train")

import stiction.torch  # noqa: E402

EXACT = stiction.Options(solver_tolerance=1e-14, max_iterations=100, friction_iterations="fixed_point")


def made(name, num_envs=2, precision="float64", options=EXACT):
    scene = SCENES[name]
    batch = stiction.Batch(scene.model(), num_envs, options=options, precision=precision, threads=1)
    model = batch.model

    def tensor(numbers):
        numbers = np.array(numbers, float).reshape(1, -1)
        return torch.tensor(numbers).expand(num_envs, -1).clone().requires_grad_()

    ctrl = tensor(scene.ctrl) if model.nu else None
    return batch, tensor(scene.qpos), tensor(scene.qvel), ctrl


@pytest.mark.parametrize("name", ["flight", "arm", "sliding", "box on its edge"])
def test_gradcheck(name):
    batch, qpos, qvel, ctrl = made(name)
    f = stiction.torch.Step(batch, params=("body_mass",))
    mass = torch.tensor(np.array(batch.param("body_mass")))
    moving = mass[:, 1:].clone().requires_grad_()  # without the world

    def step(qpos, qvel, moving, *ctrl):
        full = torch.cat([torch.zeros_like(moving[:, :1]), moving], dim=1)
        return f.step((qpos, qvel), *ctrl, body_mass=full)

    inputs = (qpos, qvel, moving, *((ctrl,) if ctrl is not None else ()))
    assert torch.autograd.gradcheck(step, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_a_rollout_is_steps_in_a_row():
    batch, qpos, qvel, ctrl = made("arm")
    f = stiction.torch.Step(batch)
    controls = (ctrl.detach() + 0.1 * torch.randn(8, *ctrl.shape, generator=torch.manual_seed(1))).requires_grad_()
    states = f.rollout((qpos, qvel), controls)
    loss = (states[0] ** 2).sum() + (states[1] ** 2).sum()
    found = torch.autograd.grad(loss, (qpos, qvel, controls))

    state, loss = (qpos, qvel), (qpos**2).sum() + (qvel**2).sum()
    for t, u in enumerate(controls):
        state = f.step(state, u)
        assert torch.equal(state[0], states[0][t + 1]) and torch.equal(state[1], states[1][t + 1])
        loss = loss + (state[0] ** 2).sum() + (state[1] ** 2).sum()
    for a, b in zip(found, torch.autograd.grad(loss, (qpos, qvel, controls)), strict=True):
        assert torch.allclose(a, b, rtol=1e-12, atol=1e-14)


def test_float32_tensors():
    batch, qpos, qvel, _ = made("sliding", precision="float32", options=stiction.Options(friction_iterations="fixed_point"))
    qpos, qvel = (x.detach().float().requires_grad_() for x in (qpos, qvel))
    after = stiction.torch.step(batch, (qpos, qvel))
    assert after[0].dtype == torch.float32
    after[1].sum().backward()
    assert qvel.grad.dtype == torch.float32 and torch.isfinite(qpos.grad).all()
