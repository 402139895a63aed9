"""What finer steps and more solves cost: CPU time of control steps along a policy's gait, float32, one thread.

    python lab/scripts/substep_cost.py POLICY.npz... [--csv FILE]
"""

import time

from common import arguments, write_csv

from stiction.learning.play import load_policy
from stiction.learning.tasks import make_env

ENVS, STEPS = 256, 60


def main():
    args = arguments()
    rows = []
    for file in args.files:
        policy = load_policy(file)
        task = policy.task
        one = make_env(task, 1)
        control = one.physics_dt * one.frame_skip
        for ms in (10, 5, 2):
            for solves in (1, 2, 3):
                finer = {"frame_skip": round(1e3 * control / ms)}
                engine = {"timestep": 1e-3 * ms, "friction_iterations": solves}
                env = make_env({"id": task["id"], "options": task["options"] | finer, "engine": engine},
                               ENVS, threads=1, seed=3)  # fmt: skip
                obs, seconds = env.reset(), 0.0
                for k in range(2 * STEPS):
                    action, begin = policy(obs), time.thread_time()
                    obs, *_ = env.step(action)
                    if k >= STEPS:
                        seconds += time.thread_time() - begin
                rate = ENVS * STEPS / seconds
                print(f"{task['id']} {ms} ms, {solves} solves: {rate:.0f} control steps per second of CPU", flush=True)
                rows.append((task["id"], ms, solves, round(rate)))
    write_csv(args.csv, ("task", "timestep_ms", "solves", "control_steps_per_cpu_second"), rows)


if __name__ == "__main__":
    main()
