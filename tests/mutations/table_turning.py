"""Breaks of what turns: the gyroscopic torque, and the origin of a tree."""

from breaks import Break

KEPT = "Gyroscopic.ATumblingBodyKeepsEnergyAndMomentum"
TOPS = "GyroscopicTops."

TURNING = [
    Break("the second half of the torque is left out", "src/physics/tree/gyroscopic.h",
          "omega - respond(t, half_turn(dt, omega).s * torque)", "omega",
          gtests=(KEPT, "Gyroscopic.AgreesWithTheReference")),
    Break("the centre of mass follows its velocity, not its way", "src/physics/tree/gyroscopic.h",
          "turn.secant(t.arm) - turn.forward", "cross(omega, t.arm) - turn.forward",
          gtests=(KEPT,)),
    Break("the slope of the turn is left out", "src/physics/tree/gyroscopic.h",
          "polynomial(d, near)", "S(0.0) * near", gtests=("Gyroscopic.HalfTurnIsATangent",)),
    Break("a ball on bodies that move has the law of one on the world", "src/reference/tree/gyroscopic.cpp",
          "if (carried || m.dof_parentid[at(m.jnt_dofadr[at(j)])] >= 0) continue;", "",
          gtests=(TOPS + "ABallOnALightBodyKeepsItsEnergy", "Gyroscopic.AgreesWithTheReference")),
    Break("the explicit torque stays in the first half", "src/reference/tree/gyroscopic.cpp",
          "explicit_torque + w0.cross(t.inertia * w0)", "explicit_torque",
          gtests=(TOPS + "ASymmetricTopPrecessesAsItShould", TOPS + "ConvergesAtSecondOrder")),
    Break("what a turning joint carries does not feel it", "src/cpu/host_rows.cpp",
          "if (above >= first) turns[at(i)].insert(n);", "if (above >= first) continue;",
          gtests=("Gyroscopic.AgreesWithTheReference",)),
    Break("the origin stays with the root", "src/cpu/tree_origin.cpp",
          "origin = next, way = 0;", "way = 0;",
          gtests=("TreeOrigin.FollowsSlidesWithoutLimits",
                  "Kinematics.OffsetsDontDependOnThePlaceOfAGantry")),
    Break("of two branches the origin takes the first", "src/cpu/tree_origin.cpp",
          "heaviest < 0 || mass > m_.body_subtreemass[at(heaviest)]", "heaviest < 0",
          gtests=("TreeOrigin.OfSeveralFollowsTheHeavier",)),
]
