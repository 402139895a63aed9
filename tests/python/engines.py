"""One environment of a Batch behind the interface of Reference: one test text for all engines.

`make(model, options)` gives the engine that the fixture `engine` chose: the reference, or a batch in
float64 or float32.
"""

from types import SimpleNamespace

import numpy as np

import stiction

REFERENCE, FLOAT64, FLOAT32 = "reference", "float64", "float32"
chosen = REFERENCE


def make(model, options=None):
    options = options or stiction.Options()
    return stiction.Reference(model, options) if chosen == REFERENCE else BatchEngine(
        model, options, chosen)


class BatchEngine:
    """Steps given states with the first environment of a batch of one."""

    def __init__(self, model, options=None, precision=FLOAT64):
        self.batch = stiction.Batch(model, num_envs=1, options=options or stiction.Options(),
                                    precision=precision, threads=1)
        self.model = model

    @property
    def options(self):
        return self.batch.options

    def _set(self, qpos, qvel, anchor=None, friction_anchor=None, rebound=None, qacc_warmstart=None,
             **inputs):
        b = self.batch
        state = {"qpos": np.reshape(qpos, (1, -1)), "qvel": np.reshape(qvel, (1, -1))}
        for name, given in (("anchor", anchor), ("friction_anchor", friction_anchor), ("rebound", rebound)):
            if given is not None and getattr(b, name).size:
                state[name] = np.reshape(given, getattr(b, name).shape)
        if qacc_warmstart is not None:
            state["qacc_warmstart"] = np.reshape(qacc_warmstart, (1, -1))
        b.set_state(**state)
        for name in ("ctrl", "qfrc_applied", "xfrc_applied"):
            given = inputs.get(name)
            getattr(b, name)[:] = 0 if given is None else np.reshape(given, getattr(b, name).shape)
        for name in ("mocap_pos", "mocap_quat"):
            if inputs.get(name) is not None:
                getattr(b, name)[:] = np.reshape(inputs[name], getattr(b, name).shape)

    def _result(self, contacts=None):
        b, m = self.batch, self.model
        dt = b.options.timestep
        anchor = np.array(b.anchor[0], float) if b.anchor.size else np.zeros((m.nanchor, 3))
        return SimpleNamespace(
            qpos=np.array(b.qpos[0]), qvel=np.array(b.qvel[0], float),
            anchor=anchor.reshape(m.nanchor, 3), friction_anchor=np.array(b.friction_anchor[0], float),
            rebound=np.array(b.rebound[0], float), qacc_warmstart=np.array(b.qacc_warmstart[0], float),
            status=int(b.status[0]),
            iterations=int(b.solver_niter.ravel()[0]),
            linesearch_evaluations=int(b.solver_nls.ravel()[0]),
            residual=float(b.solver_residual.ravel()[0]),
            xfrc_contact=np.array(b.xfrc_contact[0], float), contacts=contacts,
            # of constraints and servos; tests with explicit actuators don't look at it
            gen_impulse=dt * np.array(b.qfrc_constraint[0] + b.qfrc_actuator[0], float))

    def step(self, qpos, qvel, ctrl=None, **inputs):
        self._set(qpos, qvel, ctrl=ctrl, **inputs)
        # those of the step to come: contacts() solves at the present state
        contacts = self.batch.contacts(0)
        self.batch.step()
        return self._result(contacts)

    def forward(self, *args, **inputs):
        """Quantities of a state are the reference's: a batch offers no such function."""
        return stiction.Reference(self.model, self.batch.options).forward(*args, **inputs)

    def rollout(self, qpos, qvel, ctrl=None, nstep=None, energy=False, **inputs):
        ctrl = None if ctrl is None else np.asarray(ctrl, float)
        held = ctrl is None or ctrl.ndim == 1
        nstep = len(ctrl) if nstep is None else nstep
        self._set(qpos, qvel, ctrl=ctrl if held else None, **inputs)
        run = SimpleNamespace(nstep=nstep, qpos=[np.array(qpos, float)],
                              qvel=[np.array(qvel, float)], status=[], iterations=[], residual=[],
                              ncontact=[])
        for i in range(nstep):
            if not held:
                self.batch.ctrl[0] = ctrl[i]
            self.batch.step()
            s = self._result()
            run.qpos.append(s.qpos)
            run.qvel.append(s.qvel)
            run.anchor, run.friction_anchor, run.rebound = s.anchor, s.friction_anchor, s.rebound
            run.qacc_warmstart = s.qacc_warmstart
            for name in ("status", "iterations", "residual"):
                getattr(run, name).append(getattr(s, name))
            run.ncontact.append(int(self.batch.ncon.ravel()[0]))
        for name in ("qpos", "qvel", "status", "iterations", "residual", "ncontact"):
            setattr(run, name, np.array(getattr(run, name)))
        if energy:
            states = [self.forward(q, v) for q, v in zip(run.qpos, run.qvel)]
            run.energy = np.array([(s.energy_kinetic, s.energy_potential) for s in states])
        return run
