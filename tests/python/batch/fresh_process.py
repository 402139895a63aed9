"""Steps a batch in a process of its own and prints a hash per call.

    fresh_process.py MODEL_XML STICTION THREADS CALLS [--save FILE AFTER | --load FILE AFTER]

--save: writes the batch to FILE after so many calls; --load: begins there.
"""

import hashlib
import sys

import numpy as np

import stiction

ENVS, STEPS = 12, 5


def controls(model, call):
    """Of all environments, a function of the call alone."""
    rng = np.random.default_rng(1000 + call)
    return rng.uniform(-0.5, 0.5, (ENVS, model.nu))


def main(xml, kind, threads, calls, mode="", file="", after="0"):
    model = stiction.Model.from_file(xml)
    batch = stiction.Batch(model, num_envs=ENVS, threads=int(threads),
                           options=stiction.Options(stiction=kind))
    first = 0
    if mode == "--load":
        first = int(after)
        batch.load(file)
    else:
        rng = np.random.default_rng(5)
        if model.nkey:
            batch.qpos[:] = model.key_qpos[0]
        batch.qvel[:] = rng.uniform(-0.5, 0.5, batch.qvel.shape)
    contacts = 0
    for call in range(first, int(calls)):
        if mode == "--save" and call == int(after):
            batch.save(file)
        batch.ctrl = controls(model, call)
        batch.step(STEPS)
        contacts += int(batch.ncon.sum())
        everything = hashlib.sha256()
        for f in batch.fields():
            if f.kind in ("state", "output"):
                everything.update(np.ascontiguousarray(getattr(batch, f.name)).tobytes())
        print(call, f"{batch.state_hash():016x}", everything.hexdigest()[:16])
    print("contacts", contacts, "frozen", batch.status_count)


if __name__ == "__main__":
    main(*sys.argv[1:])
