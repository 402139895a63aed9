"""The experiments, by name; each is a file beside this one."""

import importlib

MODULES = ("conveyor", "falling_sphere", "rod", "clutter", "clutter_cost", "cube", "cube_sweeps", "stack", "takeoff", "grasp", "wedge", "push",
           "spring_cylinder", "ilqr", "maximal", "findings", "tosses",
           "pinch", "benchmark", "benchmark_piles", "friction_bounds")


def experiments():
    """name -> Experiment, in the order of the papers' list."""
    found = {}
    for module in MODULES:
        m = importlib.import_module(f".{module}", __name__)
        for e in getattr(m, "EXPERIMENTS", None) or [m.EXPERIMENT]:
            found[e.name] = e
    return found
