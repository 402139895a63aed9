"""Deliberate breaks of the contact laboratory."""

from breaks import Break

EXPERIMENTS = "lab/test_experiments.py::"

LAB = [
    Break("laboratory: a gate that holds for NaN", "lab/stiction_lab/experiment.py",
          "bool(self.low <= self.value <= self.high)", "not (self.value < self.low or self.value > self.high)",
          pytests=(EXPERIMENTS + "test_a_gate_can_fail",)),
]
