"""Writes docs/images/ant.webp, the picture of the README: Ants under a policy of ./dev run.

    ./dev run --seconds 300
    .venv/bin/python docs/make_picture.py [out/policy.npz]
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from stiction.learning.play import load_policy
from stiction.learning.tasks import make_env
from stiction.view.grid import Grid
from stiction.view.rendering import choose_backend

TARGET = Path(__file__).parent / "images/ant.webp"
SIZE, RATE = (720, 405), 20  # pixels, pictures a second
ANTS, BEGIN, SECONDS = 30, 2.0, 5.0  # from when they run
LIMIT = 3_000_000  # bytes


def pictures(policy):
    env = make_env(policy.task, ANTS, seed=0, autoreset="disabled")
    scene = Grid(env, ANTS, *SIZE)
    scene.camera.azimuth, scene.camera.elevation, scene.camera.distance = 62, -22, 0.75 * scene.camera.distance
    obs, fallen, place = env.reset(), np.zeros(ANTS, bool), np.zeros(3)
    for k in range(round((BEGIN + SECONDS) / env.dt)):
        obs, _, terminated, _ = env.step(policy(obs))
        fallen |= terminated
        middle = np.median(env.batch.qpos[:, 0])
        place[0] = middle if k == 0 else place[0] + 0.15 * (middle - place[0])  # does not jerk
        if k * env.dt >= BEGIN and k % max(1, round(1 / (RATE * env.dt))) == 0:
            yield scene.draw(env.batch, place).copy()
    print(f"{int(fallen.sum())} of {ANTS} fell, {middle / (BEGIN + SECONDS):.1f} m/s")
    scene.close()


def main():
    if why := choose_backend():
        sys.exit(why)
    policy = load_policy(sys.argv[1] if len(sys.argv) > 1 else "out/policy.npz")
    first, *others = [Image.fromarray(p) for p in pictures(policy)]
    first.save(TARGET, save_all=True, append_images=others, duration=1000 // RATE, loop=0, quality=60, method=6)
    size = TARGET.stat().st_size
    print(f"{TARGET}: {1 + len(others)} pictures, {size / 1e6:.2f} MB")
    if size > LIMIT:
        sys.exit(f"larger than {LIMIT / 1e6:g} MB")


if __name__ == "__main__":
    main()
