"""Deliberate breaks: file, exact text, replacement, and the tests that must notice.

At least one for each family of tests.
"""

from breaks import Break
from table_activations import ACTIVATIONS
from table_anchored_joints import JOINT_ANCHORS
from table_api import API_DOOR
from table_ball import BALL
from table_capsules import CAPSULES
from table_choices import CHOICES
from table_convex import CONVEX
from table_cuda import CUDA
from table_env import ENV
from table_env_locomotion import ENV_LOCOMOTION
from table_equalities import EQUALITIES
from table_factor import FACTOR
from table_files import OUTPUT
from table_fluid import FLUID
from table_formats import FORMATS
from table_gradient import GRADIENT
from table_moving import MOVING
from table_lab import LAB
from table_hfields import HFIELDS
from table_rays import RAY_BREAKS
from table_jacobian import DERIVATIVE, LAWS
from table_learning import TRAINING
from table_limits import LIMITS
from table_meshes import MESHES
from table_newton import NEWTON, SOLVER
from table_reader import READER_DOOR
from table_restitution import RESTITUTION
from table_rl import RL
from table_runtime import RUNTIME
from table_sensors import SENSORS
from table_tendons import TENDONS
from table_terms import TERM_BREAKS
from table_torsion import TORSION
from table_transmissions import TRANSMISSIONS
from table_turning import TURNING
from table_two_packs import TWO_PACKS
from table_urdf import URDF

FREEBODY = "python/step/test_acceptance_freebody.py::"
IMPACT = "python/step/test_acceptance_impact.py::"
JOINTS = "python/step/test_acceptance_joints.py::"
ROLLING = "python/step/test_acceptance_rolling.py::"
SLIDING = "python/step/test_acceptance_sliding.py::"
STATICS = "python/step/test_acceptance_statics.py::"
METAMORPHIC = "python/step/test_metamorphic.py::"
ANCHORED = "python/contact/test_anchored.py::"
API = "python/step/test_api.py::"
DRAKE = "python/step/test_golden_drake.py::"
MAPPING = "python/model/test_contact_mapping.py::"
BALANCE = "python/step/test_impulse_balance.py::"
MUJOCO = "python/tree/test_mujoco_dynamics.py::"
PRECISION = "python/batch/test_batch_precision.py::"
UNITS = "python/batch/test_batch_units.py::"
ODD = "python/model/test_odd_robot.py::"

DYNAMICS = [
    Break("bias: gyroscopic torque with the wrong sign", "src/reference/tree/dynamics.cpp",
          "inertia * s.alpha + s.omega.cross(inertia * s.omega)",
          "inertia * s.alpha - s.omega.cross(inertia * s.omega)",
          pytests=(API + "test_forward_equals_mujoco", DRAKE + "test_free_motion",
                   FREEBODY + "test_c27_energy_of_tumbling")),
    Break("bias: centripetal acceleration of the centre of mass left out",
          "src/reference/tree/kinematics.h",
          "acceleration + alpha.cross(r) + omega.cross(omega.cross(r))",
          "acceleration + alpha.cross(r)",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("mass matrix: armature left out", "src/reference/tree/dynamics.cpp",
          "M(i, i) += m.dof_armature[at(i)];", "M(i, i) += 0 * m.dof_armature[at(i)];",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("kinematics: hinge turns the wrong way", "src/reference/tree/kinematics.cpp",
          "exp_quat(axis * (q[0] - m.qpos0[at(adr)]))",
          "exp_quat(axis * (m.qpos0[at(adr)] - q[0]))",
          pytests=(API + "test_forward_equals_mujoco",)),
    Break("kinematics: hinge turns about the body's origin", "src/reference/tree/kinematics.cpp",
          "kin.dof_anchor[at(dof)] = anchor;", "kin.dof_anchor[at(dof)] = pos;",
          pytests=(ODD + "test_dynamics_at_random_states",)),
    Break("bias: Coriolis acceleration of a slide halved", "src/reference/tree/kinematics.cpp",
          "s.acceleration += 2 * s.omega.cross(rate(dof));",
          "s.acceleration += s.omega.cross(rate(dof));",
          pytests=(ODD + "test_dynamics_at_random_states",)),
    Break("gravity compensation pulls down", "src/reference/actuation/forces.cpp",
          "f -= jac.transpose()", "f += jac.transpose()",
          pytests=(ODD + "test_dynamics_at_random_states",)),
    Break("ball spring pushes away", "src/reference/tree/springs.cpp",
          "row4(q0, 0).normalized().conjugate() * row4(q, 0).normalized()",
          "row4(q, 0).normalized().conjugate() * row4(q0, 0).normalized()",
          pytests=(ODD + "test_dynamics_at_random_states",)),
    Break("actuator force is not clamped", "src/reference/actuation/forces.cpp",
          "if (m.actuator_forcelimited[at(a)] == 0) return f;",
          "if (m.actuator_forcelimited[at(a)] >= 0) return f;",
          pytests=(ODD + "test_dynamics_at_random_states",)),
    Break("energy: armature left out", "src/reference/actuation/energies.cpp",
          "t.kinetic += 0.5 * m.dof_armature[at(i)]", "t.kinetic += 0 * m.dof_armature[at(i)]",
          pytests=(MUJOCO + "test_energy",)),
    Break("momentum about the world's origin", "src/reference/actuation/energies.cpp",
          "(kin.xipos[at(b)] - t.com).cross(p)", "kin.xipos[at(b)].cross(p)",
          pytests=(MUJOCO + "test_momentum",)),
    Break("applied torque acts on the wrong side", "src/reference/actuation/forces.cpp",
          "rotation_jacobian(m, kin, b).transpose() * torque;",
          "-rotation_jacobian(m, kin, b).transpose() * torque;",
          pytests=(MUJOCO + "test_applied_wrenches",)),
    Break("damping is not implicit", "src/reference/actuation/free_motion.cpp",
          "+= share.force * dt * implicit_part(damping) +", "+= 0 * dt * implicit_part(damping) +",
          pytests=(DRAKE + "test_free_motion",)),
    Break("integration: first-order quaternion instead of the exponential map",
          "src/reference/tree/kinematics.cpp",
          "(now * exp_quat(dt * omega)).normalized()",
          "(now * Quat(1, .5 * dt * omega.x(), .5 * dt * omega.y(), .5 * dt * omega.z()))"
          ".normalized()",
          pytests=(DRAKE + "test_position", FREEBODY + "test_t39_quaternion_norm")),
    Break("integration with the old velocity", "src/reference/step/step.cpp",
          "share == 1 ? s.v : VecX(", "share == 1 ? v0 : VecX(",
          pytests=(DRAKE + "test_position", FREEBODY + "test_c27_height_of_free_fall")),
    Break("springs are not implicit", "src/reference/actuation/free_motion.cpp",
          "share.force * dt * stiffness.cwiseProduct(v0)", "0 * dt * stiffness.cwiseProduct(v0)",
          pytests=(JOINTS + "test_t48_spring_equals_servo",)),
    Break("control is not clamped to its range", "src/reference/actuation/muscle.cpp",
          "if (m.actuator_ctrllimited[at(a)] == 0) return u;", "if (m.actuator_ctrllimited[at(a)] < 2) return u;",
          pytests=(ODD + "test_dynamics_at_random_states",)),
]

CONTACT = [
    Break("Similar: mu instead of mu squared in the Hessian", "src/reference/law/contact_law.cpp",
          "mu * mu * n.hessian * t * t.transpose()", "mu * n.hessian * t * t.transpose()",
          gtests=("ContactLaw.GoldenLaggedAndSimilar", "ContactLaw.DerivativesOfAllModels")),
    Break("Lagged: friction pushes", "src/reference/law/contact_law.cpp",
          "e.impulse << -bound * s.direction, n.impulse;",
          "e.impulse << bound * s.direction, n.impulse;",
          gtests=("ContactLaw.DerivativesAtRandomParameters", "ContactLaw.WorldFrameForm")),
    Break("SAP: mu hat upside down", "src/reference/law/contact_law.cpp",
          "mu * law.R_t / law.R_n;", "mu * law.R_n / law.R_t;",
          gtests=("ContactLaw.GoldenSap", "ContactLaw.SapProjection")),
    Break("SAP: near-rigid floor is a ceiling", "src/reference/law/contact_law.cpp",
          "law.R_n = std::max<Real>(near_rigid,", "law.R_n = std::min<Real>(near_rigid,",
          pytests=(STATICS + "test_c18_near_rigid_depth",)),
    Break("soft norm: direction without regularisation", "src/reference/law/contact_law.cpp",
          "return {x.squaredNorm() / (den + eps), den, x / den};",
          "return {x.squaredNorm() / (den + eps), den, x / x.norm()};",
          gtests=("ContactLaw.SoftNormProperties", "ContactLaw.GoldenLaggedAndSimilar")),
    Break("Hunt-Crossley: the wrong root first", "src/reference/law/normal_law.cpp",
          "d * f_e0 <= a_", "d * f_e0 >= a_",
          gtests=("HuntCrossley.SeamsAndRoots", "ContactLaw.GoldenLaggedAndSimilar")),
    Break("the lag dropped: n0 from v*", "src/reference/step/step.cpp",
          "contact_law(m, o, dt, p.v_c0, p)", "contact_law(m, o, dt, J * problem.v_star, p)",
          pytests=(DRAKE + "test_contact_constants", SLIDING + "test_c7_lag_identity",
                   SLIDING + "test_c8_first_touch_has_no_lagged_friction")),
    Break("n0 with the dissipation's sign flipped", "src/reference/law/contact_law.cpp",
          "positive_part(1 - d * v_n0)", "positive_part(1 + d * v_n0)",
          gtests=("ContactLaw.SoftNormParameter",)),
    Break("sigma branch of eps_s left out", "src/reference/contact/contacts.cpp",
          "std::max<Real>(o.stiction_tolerance, o.regularization * w * law.mu * n0)",
          "std::max<Real>(o.stiction_tolerance, 0 * w * law.mu * n0)",
          pytests=(DRAKE + "test_contact_constants",)),
    Break("friction iterations keep the bounds", "src/reference/step/friction.cpp",
          "set_bound(o, n, contacts[i].w, c.law);",
          "set_bound(o, c.law.n0, contacts[i].w, c.law);",
          pytests=(IMPACT + "test_friction_of_a_sliding_impact",)),
    Break("contact Jacobian with the wrong sign", "src/reference/contact/contacts.cpp",
          "(point_jacobian(m, kin, b2, p.pos) - point_jacobian(m, kin, b1, p.pos))",
          "(point_jacobian(m, kin, b1, p.pos) - point_jacobian(m, kin, b2, p.pos))",
          pytests=(API + "test_resting_sphere", STATICS + "test_c1_c2_depth_and_load_at_rest")),
    Break("Delassus scale with body-fixed angular velocity", "src/reference/tree/delassus.cpp",
          "const Turning t = {m.jnt_dofadr[at(j)] + 3, kin.xmat[at(m.jnt_bodyid[at(j)])]};",
          "const Turning t = {m.jnt_dofadr[at(j)] + 3, Mat3::Identity()};",
          pytests=(DRAKE + "test_contact_constants",)),
    Break("activation rule too narrow", "src/reference/contact/contacts.cpp",
          "reach.distance + 2 * reach.horizon * closing",
          "reach.distance + 0.5 * reach.horizon * closing",
          gtests=("Activation.PointThatMayAct",)),
    Break("activation of Similar looks at the normal velocity alone", "src/reference/contact/contacts.cpp",
          "glides ? mu : Real(0)", "glides ? Real(0) : Real(0)",
          pytests=(SLIDING + "test_t33_gliding_at_one_metre_per_second",
                   STATICS + "test_c15_incline_that_slides")),
    Break("speculative margin left out", "src/reference/contact/contacts.cpp",
          "8 * g * dt * dt;", "0 * g * dt * dt;", gtests=("Activation.PointThatMayAct",)),
    Break("harmonic friction is a mean", "src/reference/contact/contacts.cpp",
          "2 * a * b / (a + b)", "(a + b) / 2", pytests=(DRAKE + "test_contact_constants",)),
    Break("contact wrench on the first body with the wrong sign", "src/reference/step/results.cpp",
          "add(m.geom_bodyid[at(p.geom1)], -impulse / dt, -couple / dt);",
          "add(m.geom_bodyid[at(p.geom1)], impulse / dt, -couple / dt);",
          pytests=(BALANCE + "test_action_and_reaction_in_the_heap",)),
    Break("late contact is not reported", "src/reference/step/results.cpp",
          "p.reach.opening(p.J * step.v + p.drift) < p.reach.distance)",
          "p.reach.opening(p.J * step.v + p.drift) < p.reach.distance - 1)",
          gtests=("Step.LateContactIsReported",)),
]

STICTION = [
    Break("anchor does not act", "src/reference/contact/contacts.cpp",
          "(p.frame.transpose() * p.anchor).head<2>()",
          "(0.0 * p.frame.transpose() * p.anchor).head<2>()",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor acts the wrong way in Lagged", "src/reference/law/contact_law.cpp",
          "  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);\n"
          "  const Real bound",
          "  const SoftNorm s = soft_norm(v.head<2>() - law.shift, law.eps);\n"
          "  const Real bound",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor acts the wrong way in Similar", "src/reference/law/contact_law.cpp",
          "  const SoftNorm s = soft_norm(v.head<2>() + law.shift, law.eps);\n"
          "  const Real mu",
          "  const SoftNorm s = soft_norm(v.head<2>() - law.shift, law.eps);\n"
          "  const Real mu",
          pytests=(ANCHORED + "test_constant_load_is_held",)),
    Break("anchor does not turn with the bodies", "src/reference/step/step.cpp",
          "0.5 * dt * n.dot(w1 + w2)", "0.0 * dt * n.dot(w1 + w2)",
          pytests=(ANCHORED + "test_load_that_turns_with_the_hand",)),
    Break("anchor turns with one body only", "src/reference/step/step.cpp",
          "0.5 * dt * n.dot(w1 + w2)", "1.0 * dt * n.dot(w2)",
          pytests=(ANCHORED + "test_anchor_turns_by_the_mean_spin",)),
    Break("anchor turns backwards", "src/reference/contact/contacts.cpp",
          "exp_quat(angle * normal) * z", "exp_quat(-angle * normal) * z",
          gtests=("Anchor.SpinTurnsAboutTheNormal",),
          pytests=(ANCHORED + "test_anchor_turns_by_the_mean_spin",)),
    Break("anchor leaves the tangent plane", "src/reference/contact/contacts.cpp",
          "turned - normal.dot(turned) * normal", "turned - 0.0 * normal.dot(turned) * normal",
          gtests=("Anchor.SpinKeepsTheLengthInTheNewPlane",)),
    Break("anchor grows without end", "src/reference/contact/contacts.cpp",
          "return length > reach ?", "return length > 1e9 * reach ?",
          gtests=("Anchor.AdvanceStopsAtTheReach",),
          pytests=(ANCHORED + "test_load_beyond_the_reach_creeps_less",)),
    Break("anchor survives the loss of contact", "src/reference/contact/contacts.cpp",
          "if (n0 == 0) return Vec3::Zero();", "if (n0 < 0) return Vec3::Zero();",
          gtests=("Anchor.AdvanceIntegratesSlip",)),
    Break("anchor forgotten between the steps of a rollout", "python/src/rollout.cpp",
          "std::copy(s.anchor.begin(), s.anchor.end(), r.anchor.begin());",
          "std::copy(s.anchor.begin(), s.anchor.begin(), r.anchor.begin());",
          pytests=(ANCHORED + "test_gripper_holds_for_a_minute",)),
]

ROWS = [
    Break("joint limit: target twice as far", "src/reference/law/row_laws.cpp",
          "-g0 / (2 * dt)", "-g0 / dt", gtests=("RowLaws.LimitConstants",),
          pytests=(JOINTS + "test_t41_t42_against_a_limit",)),
    Break("joint limit: margin left out", "src/reference/constraint/rows.cpp",
          "const double margin = m.jnt_margin[at(j)];", "const double margin = 0;",
          pytests=(JOINTS + "test_limit_with_margin_acts_inside_the_range",)),
    Break("damper: gain without its velocity term", "src/model/read/read_actuators.cpp",
          "a.gain = {0, 0, -kv};", "a.gain = {0, 0, 0 * kv};",
          pytests=(JOINTS + "test_damper_is_implicit",)),
    Break("activation does not see the servos", "src/reference/step/step.cpp",
          "const VecX v_rows = motion_with_rows(problem, v0);",
          "const VecX v_rows = 0 * motion_with_rows(problem, v0) + problem.v_star;",
          pytests=(BALANCE + "test_quadruped_balances",)),
    Break("servo: upper clamp left out", "src/reference/law/row_laws.cpp",
          "if (u > upper) return", "if (u > 2 * upper) return",
          gtests=("RowLaws.DerivativesAtRandomParameters", "RowLaws.CostIsContinuousAtTheBounds"),
          pytests=(JOINTS + "test_t45_servo_force",)),
    Break("servo: near-rigid rule left out", "src/reference/law/row_laws.cpp",
          "if (!(dt * kappa * R_nr > 1)) return gains;", "if (dt > 0) return gains;",
          gtests=("RowLaws.NearRigidGains",),
          pytests=(JOINTS + "test_t45_rigid_servo_is_softened",)),
    Break("dry friction: saturated cost jumps", "src/reference/law/row_laws.cpp",
          "return {-bound * u - 0.5 * R * bound * bound, bound, 0};",
          "return {-bound * u, bound, 0};",
          gtests=("RowLaws.CostIsContinuousAtTheBounds",)),
    Break("dry friction: bound is a force, not an impulse", "src/reference/constraint/rows.cpp",
          "dt * m.dof_frictionloss[at(i)]", "m.dof_frictionloss[at(i)]",
          pytests=(JOINTS + "test_t49_dry_friction",)),
]

SAFEGUARDS = [
    Break("bad controls pass through", "src/reference/checked_inputs.cpp",
          "if (std::isfinite(given[i]))", "if (true)", gtests=("Step.BadControlCountsAsZero",)),
    Break("diverged states are not kept", "src/reference/step/step.cpp",
          "else if (v.size() > 0 && v.cwiseAbs().maxCoeff() > kVelocityLimit)",
          "else if (v.size() > 0 && v.cwiseAbs().maxCoeff() > 1e300)",
          gtests=("Step.DivergedStatesAreKept",)),
    Break("no cap on the iterations", "src/reference/solver/newton.cpp",
          "if (s.iterations == max_iterations) {", "if (s.iterations == 1000000) {",
          gtests=("Newton.IterationCapKeepsTheBestIterate",)),
]

GEOMETRY = [
    Break("sphere inside a box leaves by the wrong side", "src/reference/collision/geometry_box.cpp",
          "(p[face] < 0 ? -1 : 1)", "(p[face] < 0 ? 1 : -1)",
          gtests=("GeometryBox.SphereCentreInsideLeavesByTheNearestFace",)),
    Break("plane-capsule: both points at one end", "src/reference/collision/geometry_plane.cpp",
          "out[1] = point_on_plane(plane, capsule, half_axis + down);",
          "out[1] = point_on_plane(plane, capsule, -half_axis + down);",
          gtests=("GeometryPlane.CapsuleTouchesWithItsEnds",)),
    Break("plane-box: vertices of one face", "src/reference/collision/geometry_plane.cpp",
          "i & 4u ? 1 : -1", "i & 4u ? 1 : 1",
          gtests=("GeometryPlane.BoxVerticesAreNamedBySignBits",)),
    Break("plane-ellipsoid: normal point instead of the support point",
          "src/reference/collision/geometry_plane.cpp",
          "ellipsoid.size.cwiseProduct(ellipsoid.rot.transpose() * normal_of(plane))",
          "Vec3(ellipsoid.rot.transpose() * normal_of(plane))",
          gtests=("GeometryPlane.EllipsoidSupportPoint",)),
    Break("capsule-capsule: one end forgotten", "src/reference/collision/geometry_round.cpp",
          "  consider(a.nearest(b.at(-b.half)), -b.half);\n", "",
          gtests=("EveryPair.LeastDistanceIsTheSignedDistance",)),
    Break("sphere-sphere: second radius left out", "src/reference/collision/geometry_round.cpp",
          "n.dot(p2 - p1) - radius1 - radius2", "n.dot(p2 - p1) - radius1",
          gtests=("GeometryRound.SpheresApartAndOverlapping",)),
    Break("swapped arguments keep the normal", "src/reference/collision/geometry.cpp",
          "w.normal = -w.normal;", "w.normal = 1.0 * w.normal;",
          gtests=("EveryPair.SwappedArgumentsSwapTheWitnesses",)),
]

MODEL = [
    Break("inertia of a cylinder: full instead of half length", "src/model/mesh/inertia.cpp",
          "{a * a / 4, a * a / 4, b * b / 3}", "{a * a / 4, a * a / 4, b * b / 12}",
          gtests=("Inertia.SolidPrimitivesAreMuJoCos",)),
    Break("inertia of a capsule: half balls at the ends of the tube", "src/model/mesh/inertia.cpp",
          "2 * b * 3 * a / 8", "0 * b * 3 * a / 8",
          gtests=("Inertia.SolidPrimitivesAreMuJoCos",)),
    Break("inertia: Steiner's term left out", "src/model/mesh/inertia.cpp",
          "part.mass * (r.squaredNorm()", "0 * part.mass * (r.squaredNorm()",
          gtests=("Inertia.PartsOfAPlacedCubeAddUpToIt",)),
    Break("inverse weight: sum instead of mean", "src/model/spec/derive.cpp",
          "diagonal.tail<3>().mean()", "diagonal.tail<3>().sum()",
          gtests=("Derive.InverseWeightsAreMuJoCos",),
          pytests=(MAPPING + "test_rests_as_deep_as_mujoco",)),
    Break("bounding sphere of a box: largest half size", "src/model/spec/derive.cpp",
          "return size.norm();", "return size.maxCoeff();", gtests=("Derive.BoundingSpheres",)),
    Break("mapped stiffness: cone factor left out", "src/model/spec/contact_mapping.cpp",
          "(condim - 1) * impratio / (mu2 * (1 + mu2))", "(condim - 1) * impratio / mu2",
          gtests=("ContactMapping.RestsAsDeepAsMuJoCo",),
          pytests=(MAPPING + "test_figures_of_the_design",)),
    Break("native materials in parallel", "src/model/spec/contact_material.cpp",
          "w = 1 / (1 + k1 / k2);", "w = 1 + k2 / k1;",
          gtests=("NativeContact.TwoSpringsInSeries",)),
    Break("geoms of parent and child touch", "src/model/build/pairs.cpp",
          "(a.weld == b.parent || b.weld == a.parent)",
          "(a.weld == b.parent && b.weld == a.parent)",
          gtests=("PairFilter.ParentAndChildOfWeldGroups",)),
    Break("friction of a pair: the smaller one", "src/model/spec/contact_material.cpp",
          "std::max(friction(g1, 0), friction(g2, 0))", "std::min(friction(g1, 0), friction(g2, 0))",
          gtests=("Pairs.ParametersOfTheGeomsAreCombined",)),
]

READER = [
    Break("childclass is not looked up", "src/model/read/read_defaults.cpp",
          'return own ? known_class(spec, e, "childclass", *own) : inherited;',
          "return own ? inherited : inherited;", pytests=(ODD + "test_model",)),
    Break("euler angles in the opposite order", "src/model/xml/orientation.cpp",
          "q = fixed ? turn * q : q * turn;", "q = fixed ? q * turn : turn * q;",
          pytests=(ODD + "test_model",)),
    Break("frame turns from the wrong side", "src/model/read/read_tree.cpp",
          "quat = (frame.quat * quat).normalized();", "quat = (quat * frame.quat).normalized();",
          pytests=(ODD + "test_model",)),
    Break("ref of a hinge stays in degrees", "src/model/read/read_tree.cpp",
          "j.ref = c.radians(j.ref),", "j.ref = 1.0 * j.ref,", pytests=(ODD + "test_model",)),
    Break("xyaxes: left-handed", "src/model/xml/orientation.cpp",
          "r << x, y, x.cross(y);", "r << x, y, y.cross(x);", pytests=(ODD + "test_model",)),
    Break("fromto: frame at one end", "src/model/read/read_tree.cpp",
          "pos = 0.5 * (a + b);", "pos = a;",
          pytests=(API + "test_model_arrays_equal_mujocos", ODD + "test_model")),
    Break("classes do not inherit from the class around them", "src/model/read/read_defaults.cpp",
          "spec.classes.try_emplace(name, spec.classes.at(parent))",
          "spec.classes.try_emplace(name, DefaultClass{})",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
    Break("inheritrange not about the middle", "src/model/build/build_actuators.cpp",
          "{middle - half, middle + half}", "{-half, half}",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
    Break("position servo without its stiffness", "src/model/read/read_actuators.cpp",
          "a.bias = {0, -a.gain[0], a.bias[2]};", "a.bias = {0, 0, a.bias[2]};",
          pytests=(API + "test_model_arrays_equal_mujocos",)),
]

# The text of a step for many environments, and the batch around it. A Determinism test is one for
# each scene: the neighbours, the threads or the past of an environment must not matter.
TEXT = [
    Break("a velocity moves in a frozen lane", "src/physics/integrate.h",
          "e.qvel[i] = select(moves, e.v[i] + S(0.0), e.qvel[i]);", "e.qvel[i] = e.v[i] + S(0.0);",
          gtests=("BatchStates.AFailedStepFreezesStateAndOutputsAtOnce", "BadLane.NotANumber")),
    Break("time goes on in a frozen lane", "src/physics/integrate.h",
          "e.time[0] = select(wide, e.time[0] + Wide<S>(m.opt.timestep), e.time[0]);",
          "e.time[0] = e.time[0] + Wide<S>(m.opt.timestep);",
          gtests=("BatchStates.AFailedStepFreezesStateAndOutputsAtOnce",)),
    Break("too fast is called a bad state", "src/physics/integrate.h",
          "raise_flag(e, Status::velocity_limit, speed_fault == S(1.0));",
          "raise_flag(e, Status::bad_state, speed_fault == S(1.0));",
          gtests=("BatchStates.AFailedStepFreezesStateAndOutputsAtOnce", "BadLane.OutOfRange")),
    Break("a stage writes what is not its own", "src/physics/integrate.h",
          "e.qvel[i] = select(moves, e.v", "e.gradient[i] = S(0.0), e.qvel[i] = select(moves, e.v",
          gtests=("Contract.StagesWriteTheFieldsOfTheTable",)),
    Break("a finished lane goes on while others iterate", "src/physics/solver/solve.h",
          "e.dv[i] = select(s.active, -e.dv[i], S(0.0));", "e.dv[i] = -e.dv[i];",
          gtests=("Determinism.NumberOfEnvironmentsDoesNotMatter",)),
    Break("friction iterations of the batch keep the bounds", "src/physics/solver/friction_bounds.h",
          "e.point_n0[p] = select(lanes, n, law.n0);", "",
          gtests=("Solve.AgreesWithTheReferenceInDouble",)),
    Break("a finished line search goes on while others search", "src/physics/solver/line_search.h",
          "alpha = select(open, x, alpha);", "alpha = x;",
          gtests=("Determinism.NumberOfEnvironmentsDoesNotMatter",)),
    Break("the slope along a line without friction", "src/physics/law/contact_law.h",
          "const S slope = v.drag * x_d - l.d_n * v.impulse;",
          "const S slope = -(l.d_n * v.impulse);",
          gtests=("ContactLaw.AlongALineIsThePowerOfTheFullLaw",)),
    Break("round-off along the normal counts as slip", "src/physics/law/contact_law.h",
          "return once - dot(n, once) * n;", "return once;",
          gtests=("ContactLaw.RoundOffInsteadOfSlipKeepsTheCurvaturePositive",)),
    Break("a cross point moves both its bodies the same way", "src/physics/solver/cross_points.h",
          "store3(e.path_J, k, -velocity_at(axis, load3(e.point_r1, point)));",
          "store3(e.path_J, k, velocity_at(axis, load3(e.point_r1, point)));",
          gtests=("Hessian.AgreesWithTheExplicitJacobian",)),
    Break("stalled is called not converged", "src/physics/solver/solve_outputs.h",
          "raise_flag(e, Status::stalled, s.stalled);", "raise_flag(e, Status::not_converged, s.stalled);",
          gtests=("BatchStates.RoundOffIsStalledNotUnconverged",)),
    Break("lost anchor in turn_anchor", "src/physics/contact/anchors.h",
          "const Vec3<S> kept = select<S>(active, z, zero3<S>());",
          "const Vec3<S> kept = select<S>(active, S(0.0) * z, zero3<S>());",
          gtests=("Collide.FindsThePointsOfTheReferenceForEveryShapeAndOption",)),
    Break("the anchor is kept but does not pull", "src/physics/contact/anchors.h",
          "S(1 / (kAnchorTime * dt)) * kept", "S(0 / (kAnchorTime * dt)) * kept",
          gtests=("Collide.FindsThePointsOfTheReferenceForEveryShapeAndOption",)),
    Break("a point acts in every lane of the pack", "src/physics/contact/points.h",
          "const Mask<S> active = e.cand_active[slot] > S(0.5) && w > zero;",
          "const Mask<S> active = w > zero;",
          gtests=("Determinism.NumberOfEnvironmentsDoesNotMatter",)),
    Break("n0 from the predictor's velocity", "src/physics/contact/points.h",
          "S v_n0 = dot(n, candidate_velocity(e, e.cvel0, b, slot));",
          "S v_n0 = dot(n, candidate_velocity(e, e.cvel_free, b, slot));",
          gtests=("Parity.InDoubleAStepIsTheReferences",)),
    Break("contact point weighted from the wrong side", "src/physics/contact/narrow.h",
          "w.point1 + weight * (w.point2 - w.point1);",
          "w.point2 + weight * (w.point1 - w.point2);",
          gtests=("Parity.WeightsPlaceTheContactPoint",)),
    Break("poses of geoms in floats", "src/physics/contact/cull.h",
          "store3(e.geom_xpos, g, x);",
          "store3(e.geom_xpos, g, Vec3<W>{widen(narrow<S>(x.x)), widen(narrow<S>(x.y)), "
          "widen(narrow<S>(x.z))});",
          pytests=(PRECISION + "test_c7_lag_identity",)),
    Break("cull: half the radius", "src/physics/contact/cull.h",
          "bound[0] = radius + S(kSlack * epsilon<S>()) * (radius + norm(off));",
          "bound[0] = S(0.5) * radius;",
          gtests=("Parity.InDoubleAStepIsTheReferences",
                  "Collide.FindsThePointsOfTheReferenceOnRobots")),
    Break("late contact of a pair that is near in another lane only", "src/physics/contact/late_contact.h",
          "e.pair_near[pair] > S(0.5) && e.cand_active", "e.cand_active",
          gtests=("LateContact.IsRaisedWhereALeftOutPointCloses",)),
    Break("wrenches of the last step are added", "src/physics/solver/hessian.h",
          "Spatial<S> wrench = zero6<S>();", "Spatial<S> wrench = load6(e.body_wrench, b);",
          gtests=("Determinism.NothingIsReadThatIsNotDeclared",)),
    Break("velocities: all bodies at once, without a sync between levels",
          "src/physics/tree/velocity.h", "team.for_each(m.level_adr[l + 1] - first, [&](int i) {",
          "team.for_each((l == 1 ? m.level_adr[m.nlevel] : first) - first, [&](int i) {",
          gtests=("Step.OrderOfIndicesDoesNotMatter",)),
    Break("inverse weights: the armature of a tendon stays in one tree", "src/model/spec/rest_inertia.cpp",
          "if (coupled.count(r) != 0) r = *coupled.begin();", "r = r;",
          pytests=("python/actuation/test_tendons.py::test_inverse_weights_with_armature_between_trees",)),
    Break("NaN in a control is called a bad state", "src/physics/actuation/actuation.h",
          "raise_flag(e, Status::bad_control, faults != S(0.0));",
          "raise_flag(e, Status::bad_state, faults != S(0.0));",
          gtests=("Fuzz.NaNIsFlaggedAndCountsAsZero",
                  "BatchStates.BadInputsCountAsZeroAndAreFlagged")),
    Break("NaN in applied forces passes through", "src/physics/actuation/actuation.h",
          "finite_or_zero(e.qfrc_applied[i]);", "e.qfrc_applied[i];",
          gtests=("Fuzz.NaNIsFlaggedAndCountsAsZero",)),
]

BATCH = [
    Break("padding lanes are counted", "src/batch/run.cpp",
          "for (int lane = 0; lane < used; ++lane) {\n    if (!active[lane]) continue;",
          "for (int lane = 0; lane < kernels.lanes; ++lane) {\n    if (!active[lane]) continue;",
          gtests=("BatchOnDevice.CountsAddUp",)),
    Break("own parameters are not loaded", "src/batch/run.cpp",
          "if (first == nullptr) continue;",
          "if (first == nullptr || owns(r.field)) continue;",
          gtests=("BatchOnDevice.OwnParametersStartFromTheModelAndActOnTheirEnvironmentAlone",)),
    Break("an own orientation of a body is skipped", "src/cpu/host_model.cpp",
          "if (f == Field::body_quat) view_.own_body_quat", "if (false) view_.own_body_quat",
          pytests=("python/batch/test_batch_api.py::"
                   "test_own_orientation_of_a_body_that_the_model_aligns",)),
    Break("a bad mocap pose goes into the step", "src/batch/run.cpp",
          "mocap && !mocap_is_good(env[lane])", "mocap && env[lane] < 0",
          gtests=("Fuzz.BadInputs", "BatchStates.BadInputsCountAsZeroAndAreFlagged")),
    Break("outputs are not cleaned", "src/batch/run.cpp",
          "if (r.kind == FieldKind::output) kernels.clean(", "if (false) kernels.clean(",
          gtests=("Fuzz.BadInputs", "BatchStates.AbsurdInputsLeaveEveryOutputFinite")),
    Break("the last packs are left to nobody", "src/batch/run.cpp",
          "packs = r.count > 0 ? (r.count - 1) / lanes + 1 : 0;", "packs = std::max(1, r.count / lanes);",
          gtests=("Determinism.FourThousandAndNinetySevenAreAsOne",)),
    Break("a restored state has no anchors", "src/batch/state.cpp",
          "x.empty() && (after_reset || !part.clear)", "x.empty() || part.clear",
          gtests=("Determinism.RestoredTheMotionIsTheSame",)),
    Break("copy leaves the status behind", "src/batch/state.cpp",
          "  move(reinterpret_cast<std::byte*>(impl_->status.data()), sizeof impl_->status[0]);\n",
          "", gtests=("BatchStates.CopyTakesTheStatusAlong",)),
    Break("a file leaves own parameters that it does not have", "src/batch/file.cpp",
          "if (own_fields[at(f)] == 0 && owns(f))", "if (owns(f) && num_envs() < 0)",
          gtests=("BatchFile.LoadContinuesWithTheSameBits",)),
    Break("a file forgets the steps since the reset", "src/batch/file.cpp",
          "  f(impl.steps.data(), n * sizeof impl.steps[0]);\n", "",
          gtests=("BatchFile.LoadContinuesWithTheSameBits",)),
]

BREAKS = (DYNAMICS + CONTACT + STICTION + JOINT_ANCHORS + ROWS + ACTIVATIONS + LIMITS + BALL + EQUALITIES + FACTOR + TORSION + RESTITUTION + TENDONS + TRANSMISSIONS
          + SAFEGUARDS + SOLVER + NEWTON + GEOMETRY + CAPSULES + MODEL
          + READER + READER_DOOR + TEXT + TURNING + URDF + FORMATS + HFIELDS + RAY_BREAKS + MESHES + FLUID + BATCH + TWO_PACKS + CHOICES + CONVEX + RUNTIME + API_DOOR + CUDA + ENV
          + ENV_LOCOMOTION + SENSORS + RL + TRAINING + OUTPUT + LAB + DERIVATIVE + LAWS + GRADIENT + MOVING
          + TERM_BREAKS)
