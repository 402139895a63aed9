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
    Break("laboratory: the slip is forgotten where cones are eliminated", "lab/src/interior_point.cpp",
          "Q.leftCols<2>() -= arrow(beta(f)).rightCols<2>();", "",
          pytests=("lab/test_oracle.py::test_the_interior_point_where_contacts_are_too_many",)),
    Break("laboratory: an interior point that runs its cap out", "lab/src/interior_point.cpp",
          "if (since_least >= kPatience) break;", "",
          pytests=("lab/test_oracle.py::test_the_interior_point_gives_up",)),
    Break("laboratory: a report goes on from another one's sweeps", "lab/stiction_lab/record.py",
          'data["program"] != program() or data["full"] != full', 'data["program"] != program()',
          pytests=(EXPERIMENTS + "test_a_report_goes_on_where_it_was_broken_off",)),
]
