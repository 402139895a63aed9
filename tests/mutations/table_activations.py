"""Deliberate breaks of actuators with a state and of muscles."""

from breaks import Break

PAGE = "python/actuation/test_activations.py::"
REFERENCE = ("ActivationDynamics.AgreesWithTheReference",)
FORCES = (PAGE + "test_rates_and_forces_are_mujocos",)

ACTIVATIONS = [
    Break("activation: the exact filter is explicit", "src/physics/actuation/activation_dynamics.h",
          "one_minus_exp(dt / select(filters, tau, W(1.0)))", "(dt / select(filters, tau, W(1.0)))",
          gtests=REFERENCE),
    Break("activation: a muscle relaxes as fast as it tightens", "src/physics/actuation/activation_dynamics.h",
          "const W sharp = select(change > zero, one, zero);", "const W sharp = one;",
          gtests=REFERENCE),
    Break("activation: actearly is late", "src/physics/actuation/actuation.h",
          "m.actuator_actearly[a] != 0 ? e.act_next[act]", "m.actuator_actearly[a] != 0 ? e.act[act]",
          gtests=REFERENCE),
    Break("activation: a frozen lane goes on", "src/physics/integrate.h",
          "e.act[i] = select(wide, e.act_next[i], e.act[i]);", "e.act[i] = e.act_next[i];",
          gtests=("ActivationDynamics.OnlyLanesThatMoveGetTheirActivation",)),
    Break("activation: a range bounds nothing", "src/physics/actuation/activation_dynamics.h",
          "if (m.actuator_actlimited[a] == 0) return next;", "return next;", gtests=REFERENCE),
    Break("muscle: the slope of the force forgets L0", "src/physics/actuation/muscle.h",
          "-force * (l.slope * v.value) / length0,", "-force * (l.slope * v.value),",
          gtests=("Muscle.TheTangentPlaneHasTheSlopesOfTheForce",)),
    Break("muscle: passive on both sides", "src/physics/actuation/muscle.h",
          "const S x = vmax((L - one) / w, S(0.0));", "const S x = (L - one) / w;", gtests=REFERENCE),
    Break("muscle: no row, so no damping", "src/cpu/host_actuators.cpp",
          "m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0;", "false;",
          pytests=(PAGE + "test_a_step_of_a_batch_is_the_references",)),
    Break("muscle of the reference: the optimum is at the range's end", "src/reference/actuation/muscle.cpp",
          "p.range0 + (length - low) / length0,", "p.range1 + (length - low) / length0,",
          pytests=FORCES),
    Break("muscle of the reference: FV falls apart at rest", "src/reference/actuation/muscle.cpp",
          "if (V <= 0) return {(V + 1) * (V + 1), 2 * (V + 1)};",
          "if (V <= 0) return {1 + V, 1};", pytests=FORCES),
    Break("activation of the reference: tausmooth is a threshold", "src/reference/actuation/muscle.cpp",
          "return x * x * x * (10 + x * (6 * x - 15));", "return x > 0.5 ? 1 : 0;", pytests=FORCES),
    Break("reader: the peak force is its scale", "src/model/build/build_muscles.cpp",
          "force = n[3] / std::max(1e-15, m.actuator_acc0[at(a)]);", "force = n[3];", pytests=FORCES),
    Break("reader: an intvelocity bounds its control", "src/model/build/build_actuators.cpp",
          "if (a.inherits_actrange()) {", "if (false) {",
          pytests=(PAGE + "test_the_model_is_mujocos",)),
]
