"""Deliberate breaks of capsules that lie along each other, in both texts."""

from breaks import Break

LIE = "python/step/test_acceptance_capsules.py::"
TEXTS = ("Colliders.AgreeWithTheReferenceWhereCapsulesAreNearlyParallel",)

CAPSULES = [
    Break("capsules: both points at one end of the overlap", "src/reference/collision/geometry_round.cpp",
          "out[1] = towards(seen.high(), 1 - fade);", "out[1] = towards(seen.low(), 1 - fade);",
          gtests=("GeometryCapsules.ParallelAxesTouchAtTheEndsOfTheirOverlap", *TEXTS),
          pytests=(LIE + "test_loads_by_the_lever", LIE + "test_two_points_hold_a_torque")),
    Break("capsules: two points however the axes turn", "src/reference/collision/geometry_round.cpp",
          "kTurned * turn * turn", "0 * turn * turn",
          gtests=("GeometryCapsules.CrossingAxesBringTheTwoPointsTogether",)),
    Break("capsules: two points where one stands on the other", "src/reference/collision/geometry_round.cpp",
          "tilt * tilt + std::max", "std::max",
          gtests=("GeometryCapsules.TheFarEndOfATiltedCapsuleIsHigher",)),
    Break("capsules: two points however short the overlap", "src/reference/collision/geometry_round.cpp",
          "std::max(radii / length - kShort, Real(0))", "Real(0)",
          gtests=("GeometryCapsules.OnePointWhereTheyDontLieAlongEachOther",)),
    Break("capsules: the order of the ends is that of both axes", "src/reference/collision/geometry_round.cpp",
          "flat_a.dot(flat_b) < 0 ?", "false ?",
          gtests=("GeometryCapsules.SlotsKeepTheirEnds",)),
    Break("capsules: where they cross they touch twice", "src/physics/collision/collide_round.h",
          "put(1, overlap.high, one - fade);", "put(1, overlap.high, one);",
          gtests=("Colliders.AgreeWithTheReferenceAtRandomPoses",)),
    Break("capsules: points stay at the ends of the overlap", "src/physics/collision/collide_round.h",
          "nearest.from + share * (end.from - nearest.from)", "end.from", gtests=TEXTS),
    Break("capsules: one end of the axes forgotten", "src/physics/collision/collide_round.h",
          "select(high < low, high_t, low_t)", "low_t",
          gtests=("Colliders.AgreeWithTheReferenceAtRandomPoses",)),
]
