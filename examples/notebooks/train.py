# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Train a policy
#
# A pole on a cart learns to stand, with NumPy alone. Twenty iterations take some seconds.

# %%
import stiction
from stiction.learning.evaluate import evaluate
from stiction.learning.ppo import Ppo
from stiction.learning.tasks import SETTINGS

TASK = "InvertedPendulum-v5"
settings = SETTINGS[TASK]
env = stiction.Env(TASK, settings.num_envs, seed=1)
print(f"{env.num_envs} robots, {env.num_obs} observations, {env.num_actions} action, {env.dt} s a step")

# %% [markdown]
# An iteration collects steps of all robots and learns from them. A row says what came of it.

# %%
ppo = Ppo(env, settings, seed=1, task={"id": TASK})
rows = [ppo.iterate() for _ in range(20)]
for row in rows[::5] + rows[-1:]:
    print(f"{row.steps:6d} steps: return {row.episode_return:6.1f}, KL {row.kl:.3f}")

# %% [markdown]
# Without exploration, in sixteen episodes that it has not seen:

# %%
print(evaluate(stiction.Env(TASK, 16, seed=1000), ppo.policy).text())

# %%
assert rows[-1].episode_return > 3 * rows[0].episode_return

# %% [markdown]
# `ppo.policy.save("policy.npz")` keeps it, `stiction play policy.npz` shows it, and
# `stiction train InvertedPendulum-v5 --trainer numpy` is all of this in one command.
