"""Deliberate breaks of the contact laboratory."""

from breaks import Break

EXPERIMENTS = "lab/test_experiments.py::"

LAB = [
    Break("laboratory: a gate that holds for NaN", "lab/stiction_lab/experiment.py",
          "bool(self.low <= self.value <= self.high)", "not (self.value < self.low or self.value > self.high)",
          pytests=(EXPERIMENTS + "test_a_gate_can_fail",)),
    Break("laboratory: iLQR's adjoint runs forwards", "lab/stiction_lab/ilqr.py",
          "zip(states[-2::-1], controls[::-1])", "zip(states[:-1], controls)",
          pytests=(EXPERIMENTS + "test_ilqr_needs_a_reason_to_make_contact",)),
    Break("laboratory: iLQR forgets what a correction costs later", "lab/stiction_lab/ilqr.py",
          "V_x = Q_x + K.T @ Q_uu @ k + K.T @ Q_u + Q_ux.T @ k", "V_x = Q_x",
          pytests=(EXPERIMENTS + "test_ilqr_solves_a_linear_problem_at_once",)),
    Break("laboratory: condition number of the inverse", "lab/src/solvers/primal_newton.cpp",
          "spectrum[spectrum.size() - 1] / spectrum[0]", "spectrum[0] / spectrum[spectrum.size() - 1]",
          pytests=(EXPERIMENTS + "test_condition_number",)),
]
