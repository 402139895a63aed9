"""Breaks of the factor of a pack."""

from breaks import Break

FACTOR = [
    Break("rows with other rows below them in one block", "src/physics/solver/factor.h",
          "below[i] - below[i - 1] == below[i + 1] - below[i] + 1", "true",
          gtests=("Factor.AgreesWithDenseOnTreesAndCouplings",)),
    Break("rows of a chain that is none", "src/physics/solver/factor.h",
          "parent[i + rows] == i + rows - 1", "true", gtests=("Factor.AgreesWithDenseOnTreesAndCouplings",)),
    Break("a panel forgets the rows of its own block", "src/physics/solver/factor.h",
          "acc[q][c] = acc[q][c] - u[q] * l;", "acc[q][c] = acc[q][c];",
          gtests=("Factor.AgreesWithDenseOnTreesAndCouplings",)),
    Break("an absolute floor under the pivots", "src/physics/solver/factor.h",
          "vmax(h[r][r], pivot_floor<S>() * full[r])", "vmax(h[r][r], S(1e-3))",
          pytests=("python/batch/test_batch_units.py::test_other_units_same_bits",)),
]
