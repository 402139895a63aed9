"""Deliberate breaks: file, exact text, replacement, and the tests that must notice.

At least one for each family of tests. `old` occurs once in its file (test_table.py checks it).
Names of tests: "Suite.Name" of a gtest, "folder/file.py::function" below tests/.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    name: str
    file: str
    old: str
    new: str
    gtests: tuple[str, ...] = ()
    pytests: tuple[str, ...] = ()


FREEBODY = "python/test_acceptance_freebody.py::"
IMPACT = "python/test_acceptance_impact.py::"
JOINTS = "python/test_acceptance_joints.py::"
ROLLING = "python/test_acceptance_rolling.py::"
SLIDING = "python/test_acceptance_sliding.py::"
STATICS = "python/test_acceptance_statics.py::"
METAMORPHIC = "python/test_metamorphic.py::"
ANCHORED = "python/test_anchored.py::"
API = "python/test_api.py::"
DRAKE = "python/test_golden_drake.py::"
MAPPING = "python/test_contact_mapping.py::"

DYNAMICS = [
    Break("bias: gyroscopic torque with the wrong sign", "src/reference/dynamics.cpp",
          "inertia * s.alpha + s.omega.cross(inertia * s.omega)",
          "inertia * s.alpha - s.omega.cross(inertia * s.omega)",
          pytests=(API + "test_forward_equals_mujoco", DRAKE + "test_free_motion",
                   FREEBODY + "test_c27_energy_of_tumbling")),
    Break("bias: centripetal acceleration of the centre of mass left out",
          "src/reference/dynamics.cpp",
          "s.acceleration + s.alpha.cross(r) + s.omega.cross(s.omega.cross(r))",
          "s.acceleration + s.alpha.cross(r)",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("mass matrix: armature left out", "src/reference/dynamics.cpp",
          "M(i, i) += m.dof_armature[at(i)];", "M(i, i) += 0 * m.dof_armature[at(i)];",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("kinematics: hinge turns the wrong way", "src/reference/kinematics.cpp",
          "exp_quat(axis * (q[0] - m.qpos0[at(adr)]))",
          "exp_quat(axis * (m.qpos0[at(adr)] - q[0]))",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("damping is not implicit", "src/reference/step.cpp",
          "free.A.diagonal() += dt * damping + dt * dt * stiffness;",
          "free.A.diagonal() += dt * dt * stiffness;",
          pytests=(DRAKE + "test_free_motion",)),
    Break("integration: first-order quaternion instead of the exponential map",
          "src/reference/kinematics.cpp",
          "(now * exp_quat(dt * omega)).normalized()",
          "(now * Quat(1, .5 * dt * omega.x(), .5 * dt * omega.y(), .5 * dt * omega.z()))"
          ".normalized()",
          pytests=(DRAKE + "test_position", FREEBODY + "test_t39_quaternion_norm")),
    Break("integration with the old velocity", "src/reference/step.cpp",
          "integrate_position(m, in.qpos, v, dt)", "integrate_position(m, in.qpos, v0, dt)",
          pytests=(DRAKE + "test_position", FREEBODY + "test_c27_height_of_free_fall")),
    Break("springs are not implicit", "src/reference/step.cpp",
          "spring_force(m, in.qpos) - dt * stiffness.cwiseProduct(v0)", "spring_force(m, in.qpos)",
          pytests=(JOINTS + "test_t48_spring_equals_servo",)),
    Break("control is not clamped to its range", "src/reference/forces.cpp",
          "if (m.actuator_ctrllimited[at(a)] != 0)", "if (m.actuator_ctrllimited[at(a)] > 1)",
          pytests=(API + "test_forward_equals_mujoco", JOINTS + "test_t45_servo_force")),
]

CONTACT = [
    Break("Similar: mu instead of mu squared in the Hessian", "src/reference/contact_law.cpp",
          "mu * mu * n.hessian * t * t.transpose()", "mu * n.hessian * t * t.transpose()",
          gtests=("ContactLaw.GoldenLaggedAndSimilar", "ContactLaw.DerivativesOfAllModels")),
    Break("Lagged: friction pushes", "src/reference/contact_law.cpp",
          "e.impulse << -bound * s.direction, n.impulse;",
          "e.impulse << bound * s.direction, n.impulse;",
          gtests=("ContactLaw.DerivativesAtRandomParameters", "ContactLaw.WorldFrameForm")),
    Break("SAP: mu hat upside down", "src/reference/contact_law.cpp",
          "mu * law.R_t / law.R_n;", "mu * law.R_n / law.R_t;",
          gtests=("ContactLaw.GoldenSap", "ContactLaw.SapProjection")),
    Break("SAP: near-rigid floor is a ceiling", "src/reference/contact_law.cpp",
          "law.R_n = std::max(near_rigid,", "law.R_n = std::min(near_rigid,",
          pytests=(STATICS + "test_c18_near_rigid_depth",)),
    Break("soft norm: direction without regularisation", "src/reference/contact_law.cpp",
          "return {x.squaredNorm() / (den + eps), den, x / den};",
          "return {x.squaredNorm() / (den + eps), den, x / x.norm()};",
          gtests=("ContactLaw.SoftNormProperties", "ContactLaw.GoldenLaggedAndSimilar")),
    Break("Hunt-Crossley: the wrong root first", "src/reference/contact_law.cpp",
          "d * f_e0 <= a_", "d * f_e0 >= a_",
          gtests=("HuntCrossley.SeamsAndRoots", "ContactLaw.GoldenLaggedAndSimilar")),
    Break("the lag dropped: n0 from v*", "src/reference/step.cpp",
          "contact_law(m, o, dt, w, v_c0, p)", "contact_law(m, o, dt, w, J * problem.v_star, p)",
          pytests=(DRAKE + "test_contact_constants", SLIDING + "test_c7_lag_identity",
                   SLIDING + "test_c8_first_touch_has_no_lagged_friction")),
    Break("n0 with the dissipation's sign flipped", "src/reference/contact_law.cpp",
          "positive_part(1 - d * v_n0)", "positive_part(1 + d * v_n0)",
          gtests=("ContactLaw.SoftNormParameter",)),
    Break("sigma branch of eps_s left out", "src/reference/contacts.cpp",
          "std::max(o.stiction_tolerance, o.regularization * w * c.friction * c.n0)",
          "std::max(o.stiction_tolerance, 0 * w * c.friction * c.n0)",
          pytests=(DRAKE + "test_contact_constants",)),
    Break("contact Jacobian with the wrong sign", "src/reference/contacts.cpp",
          "(point_jacobian(m, kin, b2, point) - point_jacobian(m, kin, b1, point))",
          "(point_jacobian(m, kin, b1, point) - point_jacobian(m, kin, b2, point))",
          pytests=(API + "test_resting_sphere", STATICS + "test_c1_c2_depth_and_load_at_rest")),
    Break("Delassus scale with body-fixed angular velocity", "src/reference/contacts.cpp",
          "to_world_.block<3, 3>(dof, dof) = kin.xmat[at(m.jnt_bodyid[at(j)])];",
          "to_world_.block<3, 3>(dof, dof) = Mat3::Identity();",
          pytests=(DRAKE + "test_contact_constants",)),
    Break("activation rule too narrow", "src/reference/contacts.cpp",
          "gap <= 2 * reach.horizon * closing", "gap <= 0.5 * reach.horizon * closing",
          gtests=("Activation.PointThatMayAct",)),
    Break("activation of Similar looks at the normal velocity alone", "src/reference/contacts.cpp",
          "return {dt, c.friction};", "return {dt, 0};",
          pytests=(SLIDING + "test_t33_gliding_at_one_metre_per_second",
                   STATICS + "test_c15_incline_that_slides")),
    Break("speculative margin left out", "src/reference/contacts.cpp",
          "8 * g * dt * dt;", "0 * g * dt * dt;", gtests=("Activation.PointThatMayAct",)),
    Break("harmonic friction is a mean", "src/reference/contacts.cpp",
          "2 * a * b / (a + b)", "(a + b) / 2", pytests=(DRAKE + "test_contact_constants",)),
    Break("contact wrench on the first body with the wrong sign", "src/reference/step.cpp",
          "add(m.geom_bodyid[at(c.geom1)], -impulse / dt);",
          "add(m.geom_bodyid[at(c.geom1)], impulse / dt);",
          pytests=(DRAKE + "test_generalized_impulse",)),
]

STICTION = [
    Break("anchor does not act", "src/reference/contacts.cpp",
          "(p.frame.transpose() * p.anchor).head<2>()",
          "(0.0 * p.frame.transpose() * p.anchor).head<2>()",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor acts the wrong way in Lagged", "src/reference/contact_law.cpp",
          "  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);\n"
          "  const double bound",
          "  const SoftNorm s = soft_norm(v.head<2>() - law.shift, law.eps);\n"
          "  const double bound",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor acts the wrong way in Similar", "src/reference/contact_law.cpp",
          "  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);\n"
          "  const double mu",
          "  const SoftNorm s = soft_norm(v.head<2>() - law.shift, law.eps);\n"
          "  const double mu",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor does not turn with the bodies", "src/reference/step.cpp",
          "0.5 * dt * n.dot(w1 + w2)", "0.0 * dt * n.dot(w1 + w2)",
          pytests=(ANCHORED + "test_turning_a_grasp",)),
    Break("anchor turns backwards", "src/reference/contacts.cpp",
          "exp_quat(angle * normal) * z", "exp_quat(-angle * normal) * z",
          gtests=("Anchor.SpinTurnsAboutTheNormal",),
          pytests=(ANCHORED + "test_turning_a_grasp",)),
    Break("anchor leaves the tangent plane", "src/reference/contacts.cpp",
          "turned - normal.dot(turned) * normal", "turned - 0.0 * normal.dot(turned) * normal",
          gtests=("Anchor.SpinKeepsTheLengthInTheNewPlane",)),
    Break("anchor grows without end", "src/reference/contacts.cpp",
          "return length > reach ?", "return length > 1e9 * reach ?",
          gtests=("Anchor.AdvanceStopsAtTheReach",),
          pytests=(ANCHORED + "test_load_beyond_the_reach_creeps_less",)),
    Break("anchor survives the loss of contact", "src/reference/contacts.cpp",
          "if (n0 == 0) return Vec3::Zero();", "if (n0 < 0) return Vec3::Zero();",
          gtests=("Anchor.AdvanceIntegratesSlip",)),
    Break("anchor forgotten between the steps of a rollout", "python/src/rollout.cpp",
          "std::copy(s.anchor.begin(), s.anchor.end(), r.anchor.begin());",
          "std::copy(s.anchor.begin(), s.anchor.begin(), r.anchor.begin());",
          pytests=(ANCHORED + "test_gripper_holds_for_a_minute",)),
]

ROWS = [
    Break("joint limit: target twice as far", "src/reference/row_laws.cpp",
          "-g0 / (2 * dt)", "-g0 / dt", gtests=("RowLaws.LimitConstants",),
          pytests=(JOINTS + "test_t41_t42_against_a_limit",)),
    Break("servo: upper clamp left out", "src/reference/row_laws.cpp",
          "if (u > upper) return", "if (u > 2 * upper) return",
          gtests=("RowLaws.DerivativesAtRandomParameters", "RowLaws.CostIsContinuousAtTheBounds"),
          pytests=(JOINTS + "test_t45_servo_force",)),
    Break("servo: near-rigid rule left out", "src/reference/row_laws.cpp",
          "if (!(dt * kappa * R_nr > 1)) return gains;", "if (dt > 0) return gains;",
          gtests=("RowLaws.NearRigidGains",),
          pytests=(JOINTS + "test_t45_rigid_servo_is_softened",)),
    Break("dry friction: saturated cost jumps", "src/reference/row_laws.cpp",
          "return {-bound * v - 0.5 * R * bound * bound, bound, 0};",
          "return {-bound * v, bound, 0};",
          gtests=("RowLaws.CostIsContinuousAtTheBounds",)),
    Break("dry friction: bound is a force, not an impulse", "src/reference/rows.cpp",
          "dt * m.dof_frictionloss[at(i)]", "m.dof_frictionloss[at(i)]",
          pytests=(JOINTS + "test_t49_dry_friction",)),
]

SOLVER = [
    Break("an absolute constant in the stopping rule", "src/reference/newton.cpp",
          "return scale > 0 ? r / scale : 1.0;", "return scale > 0 ? r / (scale + 1e-3) : 1.0;",
          pytests=(METAMORPHIC + "test_four_times_the_mass_is_bitwise",)),
    Break("line search accepts every full step", "src/reference/line_search.cpp",
          "if (at_1.slope <= kTolerance * scale || scale <= round_off) return {1, 0};",
          "if (at_1.slope <= 1e30) return {1, 0};",
          gtests=("Newton.RandomStartsFindOneMinimizer",)),
    Break("line search: bracket closed from the wrong side", "src/reference/line_search.cpp",
          "((value.f > 0) == rising ? upper : lower)", "((value.f > 0) == rising ? lower : upper)",
          gtests=("LineSearch.RootFinder",)),
    Break("cubic guess: wrong coefficient", "src/reference/line_search.cpp",
          "-3 * difference - 2 * at_0.slope - at_1.slope",
          "-3 * difference - at_0.slope - at_1.slope",
          gtests=("LineSearch.CubicMinimumIsExactForACubic",)),
    Break("Newton: half of the contacts' Hessian", "src/reference/problem.cpp",
          "e.hessian += c.J.transpose() * value.hessian * c.J;",
          "e.hessian += 0.5 * c.J.transpose() * value.hessian * c.J;",
          gtests=("Newton.CostFallsAndGradientIsConsistent",)),
    Break("Newton: contact impulse missing in the residual", "src/reference/problem.cpp",
          "e.impulse += c.J.transpose() * value.impulse;",
          "e.impulse += 0.0 * c.J.transpose() * value.impulse;",
          gtests=("Newton.CostFallsAndGradientIsConsistent",),
          pytests=(API + "test_resting_sphere",)),
    Break("Newton: stops a thousand times too early", "src/reference/newton.cpp",
          "while (!(s.residual <= tolerance)) {", "while (!(s.residual <= 1e3 * tolerance)) {",
          gtests=("Newton.ExactGuessTakesNoStep",), pytests=(DRAKE + "test_converged",)),
]

GEOMETRY = [
    Break("sphere inside a box leaves by the wrong side", "src/reference/geometry_box.cpp",
          "(p[face] < 0 ? -1 : 1)", "(p[face] < 0 ? 1 : -1)",
          gtests=("GeometryBox.SphereCentreInsideLeavesByTheNearestFace",)),
    Break("plane-capsule: both points at one end", "src/reference/geometry_plane.cpp",
          "out[1] = point_on_plane(plane, capsule, half_axis + down);",
          "out[1] = point_on_plane(plane, capsule, -half_axis + down);",
          gtests=("GeometryPlane.CapsuleTouchesWithItsEnds",)),
    Break("plane-box: vertices of one face", "src/reference/geometry_plane.cpp",
          "i & 4u ? 1 : -1", "i & 4u ? 1 : 1",
          gtests=("GeometryPlane.BoxVerticesAreNamedBySignBits",)),
    Break("plane-ellipsoid: normal point instead of the support point",
          "src/reference/geometry_plane.cpp",
          "ellipsoid.size.cwiseProduct(ellipsoid.rot.transpose() * normal_of(plane))",
          "Vec3(ellipsoid.rot.transpose() * normal_of(plane))",
          gtests=("GeometryPlane.EllipsoidSupportPoint",)),
    Break("capsule-capsule: one end forgotten", "src/reference/geometry_round.cpp",
          "  consider(a.nearest(b.at(-b.half)), -b.half);\n", "",
          gtests=("EveryPair.LeastDistanceIsTheSignedDistance",)),
    Break("sphere-sphere: second radius left out", "src/reference/geometry_round.cpp",
          "n.dot(p2 - p1) - radius1 - radius2", "n.dot(p2 - p1) - radius1",
          gtests=("GeometryRound.SpheresApartAndOverlapping",)),
    Break("swapped arguments keep the normal", "src/reference/geometry.cpp",
          "w.normal = -w.normal;", "w.normal = +w.normal;",
          gtests=("EveryPair.SwappedArgumentsSwapTheWitnesses",)),
]

MODEL = [
    Break("inertia of a cylinder: full instead of half length", "src/model/inertia.cpp",
          "{a * a / 4, a * a / 4, b * b / 3}", "{a * a / 4, a * a / 4, b * b / 12}",
          gtests=("Inertia.SolidPrimitivesAreMuJoCos",)),
    Break("inertia of a capsule: half balls at the ends of the tube", "src/model/inertia.cpp",
          "2 * b * 3 * a / 8", "0 * b * 3 * a / 8",
          gtests=("Inertia.SolidPrimitivesAreMuJoCos",)),
    Break("inertia: Steiner's term left out", "src/model/inertia.cpp",
          "part.mass * (r.squaredNorm()", "0 * part.mass * (r.squaredNorm()",
          gtests=("Inertia.PartsOfAPlacedCubeAddUpToIt",)),
    Break("inverse weight: sum instead of mean", "src/model/derive.cpp",
          "diagonal.tail<3>().mean()", "diagonal.tail<3>().sum()",
          gtests=("Derive.InverseWeightsAreMuJoCos",),
          pytests=(MAPPING + "test_rests_as_deep_as_mujoco",)),
    Break("bounding sphere of a box: largest half size", "src/model/derive.cpp",
          "return size.norm();", "return size.maxCoeff();", gtests=("Derive.BoundingSpheres",)),
    Break("mapped stiffness: cone factor left out", "src/model/contact_mapping.cpp",
          "(condim - 1) * impratio / (mu2 * (1 + mu2))", "(condim - 1) * impratio / mu2",
          gtests=("ContactMapping.RestsAsDeepAsMuJoCo",),
          pytests=(MAPPING + "test_figures_of_the_design",)),
    Break("native materials in parallel", "src/model/contact_material.cpp",
          "w = 1 / (1 + k1 / k2);", "w = 1 + k2 / k1;", gtests=("NativeContact.TwoSpringsInSeries",)),
    Break("geoms of parent and child touch", "src/model/pairs.cpp",
          "(a.weld == b.parent || b.weld == a.parent)", "(a.weld == b.parent && b.weld == a.parent)",
          gtests=("PairFilter.ParentAndChildOfWeldGroups",)),
    Break("friction of a pair: the smaller one", "src/model/contact_material.cpp",
          "std::max(friction(g1), friction(g2))", "std::min(friction(g1), friction(g2))",
          gtests=("Pairs.ParametersOfTheGeomsAreCombined",)),
]

READER = [
    Break("fromto: frame at one end", "src/model/read_tree.cpp",
          "pos = 0.5 * (a + b);", "pos = a;",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
    Break("classes do not inherit from the class around them", "src/model/read_defaults.cpp",
          "spec.classes.try_emplace(name, spec.classes.at(parent))",
          "spec.classes.try_emplace(name, DefaultClass{})",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
    Break("inheritrange not about the middle", "src/model/build.cpp",
          "{middle - half, middle + half}", "{-half, half}",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
    Break("position servo without its stiffness", "src/model/read_actuators.cpp",
          "a.bias[1] = -a.gain[0];", "a.bias[1] = 0;",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
]

BREAKS = DYNAMICS + CONTACT + STICTION + ROWS + SOLVER + GEOMETRY + MODEL + READER
