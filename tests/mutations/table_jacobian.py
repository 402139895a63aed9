"""Breaks of the derivative of a step, and of what only the reference computes: schemes, barriers, anisotropy."""

from breaks import Break

JACOBIAN = "python/step/test_jacobian.py::"
SCHEMES = "python/step/test_schemes.py::"

DERIVATIVE = [
    Break("derivative of the solve at the wrong sign", "src/reference/solver/newton.cpp",
          "H.solve(-gradient.unaryExpr(", "H.solve(gradient.unaryExpr(",
          pytests=(JACOBIAN + "test_against_differences",)),
    Break("the lagged bound counts as a constant", "src/reference/contact/contacts.cpp",
          "Real& w, ContactLaw& law) {\n  law.n0 = n0;", "Real& w, ContactLaw& law) {\n  law.n0 = value(n0);",
          pytests=(JACOBIAN + "test_against_differences",)),
    Break("tangent of a rotation in the world's axes", "src/reference/step/jacobian.cpp",
          "const Quaterniond rate = q * omega;", "const Quaterniond rate = omega * q;",
          pytests=(JACOBIAN + "test_against_differences",)),
    Break("dual numbers: the quotient's rule without its second term", "src/reference/base/dual.h",
          "(tangent - ratio * b.tangent) / b.value", "tangent / b.value",
          gtests=("Dual.FunctionsOfOneNumber", "Dual.ThroughCholesky")),
    Break("friction of a pair grows in one direction alone", "src/reference/contact/contacts.cpp",
          "p.friction.array() += more_friction[at(pair)];", "p.friction[0] += more_friction[at(pair)];",
          pytests=(JACOBIAN + "test_friction",)),
    Break("the Jacobian is of what the tolerance left", "src/reference/reference.cpp",
          "exact.solver_tolerance = 1e-14;", "exact.solver_tolerance = *exact.solver_tolerance;",
          pytests=(JACOBIAN + "test_is_that_of_the_exact_minimum",)),
]

LAWS = [
    Break("log barrier: curvature of half the size", "src/reference/law/normal_law.cpp",
          "kappa / (phi * phi)}", "0.5 * kappa / (phi * phi)}",
          gtests=("Barriers.Derivatives",)),
    Break("IPC barrier: force without its logarithm", "src/reference/law/normal_law.cpp",
          "u * (u / s - 2 * log(s))", "u * (u / s)",
          gtests=("Barriers.ForceIsThePapers",)),
    Break("anisotropic friction: impulse not stretched back", "src/reference/law/contact_law.cpp",
          "  e.impulse = S.cwiseProduct(e.impulse);\n", "",
          gtests=("AnisotropicFriction.SlidesByTheDirection",)),
    Break("midpoint: forces at the start", "src/reference/actuation/free_motion.cpp",
          "const VecX v = 0.5 * (v0 + free.v_star);", "const VecX v = v0;",
          pytests=(SCHEMES + "test_midpoint_keeps_the_energy",)),
    Break("a batch takes any scheme", "src/options.cpp",
          "if (o.scheme != Scheme::implicit_euler)\n    throw", "if (false)\n    throw",
          pytests=(SCHEMES + "test_a_batch_refuses_by_name",)),
]
