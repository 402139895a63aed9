"""Gymnasium's own environments beside the compiled tasks of the same name."""

import gymnasium
import numpy as np

import stiction

TASKS = ("InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "Pusher-v5",
         "Hopper-v5", "Walker2d-v5", "HalfCheetah-v5", "Swimmer-v5")

# Options with other values than the defaults, the same for both sides.
OPTIONS = {
    "InvertedPendulum-v5": {"reset_noise_scale": 0.05},
    "InvertedDoublePendulum-v5": {"healthy_reward": 3.0, "reset_noise_scale": 0.02},
    "Reacher-v5": {"reward_dist_weight": 2.0, "reward_control_weight": 0.3},
    "Pusher-v5": {"reward_near_weight": 0.8, "reward_dist_weight": 2.0, "reward_control_weight": 0.3},
    "Hopper-v5": {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.02, "healthy_reward": 0.4,
                  "healthy_state_range": (-3.0, 4.0), "healthy_z_range": (0.9, 1.4),
                  "healthy_angle_range": (-0.1, 0.15), "reset_noise_scale": 0.01,
                  "exclude_current_positions_from_observation": False},
    "Walker2d-v5": {"forward_reward_weight": 2.0, "ctrl_cost_weight": 0.05, "healthy_reward": 0.3,
                    "terminate_when_unhealthy": False, "healthy_z_range": (1.0, 1.5),
                    "healthy_angle_range": (-0.3, 0.2),
                    "exclude_current_positions_from_observation": False},
    "HalfCheetah-v5": {"forward_reward_weight": 0.5, "ctrl_cost_weight": 0.3,
                       "reset_noise_scale": 0.03,
                       "exclude_current_positions_from_observation": False},
    "Swimmer-v5": {"forward_reward_weight": 2.0, "ctrl_cost_weight": 0.05,
                   "reset_noise_scale": 0.03, "exclude_current_positions_from_observation": False},
}


def theirs(id, **options):
    """Without the wrappers, so that every number can be asked for."""
    env = gymnasium.make(id, **options).unwrapped
    env.reset(seed=0)
    return env


def states(env, n, seed):
    """(qpos, qvel) of n environments around the reference pose, upright and fallen, at 3 m/s."""
    rng = np.random.default_rng(seed)
    model = env.batch.model
    spread = rng.choice([0.05, 0.3, 1.0], (n, 1))
    qpos = model.qpos0 + spread * rng.uniform(-0.7, 0.7, (n, model.nq))
    qvel = 3 * spread * rng.normal(size=(n, model.nv))
    return qpos, qvel


def ours(id, n=1, **options):
    return stiction.Env(id, n, precision="float64", autoreset="disabled", seed=0, **options)


def their_step(env, before, after, action):
    """Gymnasium's step between two given states instead of its own physics."""
    env.set_state(*before)
    env.do_simulation = lambda ctrl, n: env.set_state(*after)
    try:
        return env.step(action)
    finally:
        del env.do_simulation
