// Contact, ForwardResult, StepResult.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "arrays.h"
#include "module.h"
#include "stiction/reference.h"

namespace stiction::python {
namespace {

// (nv,nv) matrix of a result.
template <class Result>
void def_square(nb::class_<Result>& c, const char* name, std::vector<double> Result::*field,
                std::vector<double> Result::*side, const char* doc) {
  c.def_prop_ro(
      name,
      [field, side](nb::handle_t<Result> self) {
        auto& r = nb::cast<Result&>(self);
        const std::size_t n = (r.*side).size();
        return matrix_view((r.*field).data(), n, n, self);
      },
      doc);
}

std::string repr(const Contact& c) {
  std::ostringstream s;
  s << "<Contact geom1=" << c.geom1 << " geom2=" << c.geom2 << " gap=" << c.gap << " impulse=("
    << c.impulse[0] << ", " << c.impulse[1] << ", " << c.impulse[2] << ")>";
  return s.str();
}

std::string repr(const StepResult& r) {
  std::ostringstream s;
  s << "<StepResult status=" << static_cast<std::uint32_t>(r.status)
    << " iterations=" << r.iterations << " residual=" << r.residual
    << " contacts=" << r.contacts.size() << ">";
  return s.str();
}

void bind_contact(nb::module_& m) {
  nb::class_<Contact> c(m, "Contact",
                        "One contact point. World axes; the normal points from geom1 into geom2.");
  c.def_ro("env", &Contact::env, "environment of a batch")
      .def_ro("geom1", &Contact::geom1)
      .def_ro("geom2", &Contact::geom2)
      .def_ro("body1", &Contact::body1, "body of geom1")
      .def_ro("body2", &Contact::body2, "body of geom2")
      .def_ro("pair", &Contact::pair, "index into Model.pair_*")
      .def_ro("slot", &Contact::slot, "lasting name of the point, in [0, nslot)")
      .def_ro("gap", &Contact::gap, "distance minus margin at the start, m; < 0: overlap")
      .def_ro("separation_velocity", &Contact::separation_velocity,
              "normal velocity at the end, m/s; > 0: separating")
      .def_ro("friction", &Contact::friction, "coefficient of the pair, along the first tangent")
      .def_ro("friction2", &Contact::friction2,
              "along the second tangent; differs in anisotropic pairs")
      .def_ro("stiffness", &Contact::stiffness, "k of the pair, N/m")
      .def_ro("dissipation", &Contact::dissipation, "Hunt-Crossley d of the pair, s/m")
      .def_ro("n0", &Contact::n0, "lagged normal impulse that bounds friction, N s")
      .def_ro("eps_s", &Contact::eps_s, "slip speed of the soft norm, max(v_s, sigma w mu n0), m/s")
      .def_ro("w", &Contact::w, "Delassus scale of the point, 1/kg");
  def_array(c, "pos", &Contact::pos, "(3,) contact point, m");
  def_array(c, "normal", &Contact::normal, "(3,) unit normal");
  def_array(c, "impulse", &Contact::impulse, "(3,) on geom2's body, N s");
  def_array(c, "force", &Contact::force, "(3,) on geom2's body, impulse / timestep, N");
  def_array(
      c, "couple", &Contact::couple,
      "(3,) on geom2's body beside the impulse at pos, of torsional and rolling friction, N m s");
  def_array(c, "torque", &Contact::torque, "(3,) on geom2's body, couple / timestep, N m");
  def_array(c, "slip", &Contact::slip,
            "(3,) tangential velocity of geom2 against geom1 at the end, m/s");
  c.def("__repr__", nb::overload_cast<const Contact&>(&repr));
}

void bind_forward(nb::module_& m) {
  using R = ForwardResult;
  nb::class_<R> c(m, "ForwardResult",
                  "Quantities of one state. SI units, world axes unless said otherwise.");
  def_array<3>(c, "xpos", &R::xpos, "(nbody, 3) body frames, m");
  def_array<4>(c, "xquat", &R::xquat, "(nbody, 4) body frames");
  def_array<3>(c, "xipos", &R::xipos, "(nbody, 3) centres of mass, m");
  def_array<9>(c, "ximat", &R::ximat, "(nbody, 9) principal axes, row-major");
  def_array<3>(c, "xanchor", &R::xanchor, "(njnt, 3) m");
  def_array<3>(c, "xaxis", &R::xaxis, "(njnt, 3)");
  def_array<3>(c, "geom_xpos", &R::geom_xpos, "(ngeom, 3) m");
  def_array<9>(c, "geom_xmat", &R::geom_xmat, "(ngeom, 9) row-major");
  def_array<3>(c, "site_xpos", &R::site_xpos, "(nsite, 3) m");
  def_array<9>(c, "site_xmat", &R::site_xmat, "(nsite, 9) row-major");
  def_array<3>(c, "subtree_com", &R::subtree_com, "(nbody, 3) m");
  def_array<6>(c, "xvel", &R::xvel,
               "(nbody, 6) angular velocity, then linear velocity of the body frame's origin");
  def_square(c, "M", &R::M, &R::qfrc_bias, "(nv, nv) mass matrix with armature");
  def_array(c, "qfrc_bias", &R::qfrc_bias, "(nv,) Coriolis and gyroscopic force minus gravity");
  def_array(c, "qfrc_spring", &R::qfrc_spring, "(nv,) joint springs");
  def_array(c, "qfrc_damper", &R::qfrc_damper, "(nv,) joint damping");
  def_array(c, "qfrc_fluid", &R::qfrc_fluid, "(nv,) forces of the medium");
  def_array(c, "qfrc_gravcomp", &R::qfrc_gravcomp, "(nv,) gravity compensation");
  def_array(c, "qfrc_passive", &R::qfrc_passive, "(nv,) their sum");
  def_array(c, "actuator_length", &R::actuator_length, "(nu,) m or rad");
  def_array(c, "actuator_velocity", &R::actuator_velocity, "(nu,) m/s or rad/s");
  def_array(c, "actuator_force", &R::actuator_force, "(nu,) N or N m");
  c.def_prop_ro(
      "actuator_moment",
      [](nb::handle_t<R> self) {
        auto& r = nb::cast<R&>(self);
        return matrix_view(r.actuator_moment.data(), r.actuator_length.size(), r.qfrc_bias.size(),
                           self);
      },
      "(nu, nv) moment arms: actuator_velocity = actuator_moment qvel");
  def_array(c, "act_dot", &R::act_dot, "(na,) rates of the activations, 1/s");
  def_array(c, "qfrc_actuator", &R::qfrc_actuator, "(nv,) actuator forces on the dofs");
  def_array<6>(
      c, "eq_gap", &R::eq_gap,
      "(neq, 6) of connects and welds: rotation vector (welds alone), then displacement of\n"
      "body 2 against body 1, rad, m; of couplings of joints or tendons the fourth number, rad or "
      "m");
  c.def_prop_ro(
      "eq_J",
      [](nb::handle_t<R> self) {
        auto& r = nb::cast<R&>(self);
        return matrix_view(r.eq_J.data(), r.eq_gap.size(), r.qfrc_bias.size(), self);
      },
      "(6 neq, nv) of connects and welds: angular, then linear velocity of body 2 against body 1; "
      "of\n"
      "couplings the fourth row");
  def_array(c, "linear_momentum", &R::linear_momentum, "(3,) kg m/s");
  def_array(c, "angular_momentum", &R::angular_momentum,
            "(3,) kg m^2/s about the centre of mass of everything that moves");
  def_array(c, "com", &R::com, "(3,) centre of mass of everything that moves, m");
  c.def_ro("energy_kinetic", &R::energy_kinetic, "J")
      .def_ro("energy_potential", &R::energy_potential, "J, gravity and joint springs")
      .def_ro("contacts", &R::contacts,
              "list of Contact: every candidate point of every pair, impulses zero");
}

void bind_step(nb::module_& m) {
  using R = StepResult;
  nb::class_<R> c(m, "StepResult", "What one step did. SI units, world axes.");
  def_array(c, "qpos", &R::qpos, "(nq,) next positions");
  def_array(c, "qvel", &R::qvel, "(nv,) next velocities");
  def_array(c, "act", &R::act, "(na,) next activations");
  def_array<3>(c, "mocap_pos", &R::mocap_pos, "(nmocap, 3) where mocap_vel takes mocap bodies, m");
  def_array<4>(c, "mocap_quat", &R::mocap_quat, "(nmocap, 4) the same, w x y z");
  def_array<3>(c, "anchor", &R::anchor,
               "(nanchor, 3) next anchors, m or rad; zero unless stiction = 'anchored'");
  def_array(c, "friction_anchor", &R::friction_anchor,
            "(nv + ntendon,) those of dry friction, m or rad, likewise");
  def_array(c, "rebound", &R::rebound,
            "(nrebound,) next speeds at which pairs met that bounce, m/s; -1: they rest");
  def_array(
      c, "v", &R::v,
      "(nv,) minimum of the convex problem: qpos moves by timestep * v; qvel but in free and ball "
      "joints with gyroscopic = 'midpoint'");
  def_array(c, "v_star", &R::v_star, "(nv,) free-motion velocity");
  def_square(c, "A", &R::A, &R::v_star, "(nv, nv) M + dt D + dt^2 K");
  def_array(c, "gen_impulse", &R::gen_impulse, "(nv,) generalized impulse of all constraints");
  def_array<6>(c, "eq_force", &R::eq_force,
               "(neq, 6) of connects and welds: force and torque on body 2, N, N m, world axes; of "
               "couplings\n"
               "the first number, on the first joint or tendon");
  def_array<6>(c, "xfrc_contact", &R::xfrc_contact,
               "(nbody, 6) contact force, N, and torque at the centre of mass, N m");
  def_array(c, "sensordata", &R::sensordata,
            "(nsensordata,) accelerations, forces and contacts of the interval; all other readings "
            "at the next state");
  c.def_ro("contacts", &R::contacts, "list of Contact: the points in the problem")
      .def_ro("status", &R::status, "Status bits; 0: all well")
      .def_ro("iterations", &R::iterations, "Newton iterations, the most of any island")
      .def_ro("linesearch_evaluations", &R::linesearch_evaluations,
              "evaluations of the cost's derivative beyond alpha = 1")
      .def_ro("residual", &R::residual,
              "relative momentum residual, dimensionless, the most of any island")
      .def_ro("cost", &R::cost, "minimum of the convex problem, J")
      .def("__repr__", nb::overload_cast<const R&>(&repr));
}

// (2 nv, k) matrix of a Jacobian.
void def_columns(nb::class_<StepJacobian>& c, const char* name,
                 std::vector<double> StepJacobian::*field, const char* doc) {
  c.def_prop_ro(
      name,
      [field](nb::handle_t<StepJacobian> self) {
        auto& j = nb::cast<StepJacobian&>(self);
        const std::size_t rows = 2 * j.step.v.size();
        return matrix_view((j.*field).data(), rows, rows > 0 ? (j.*field).size() / rows : 0, self);
      },
      doc);
}

void bind_jacobian(nb::module_& m) {
  using J = StepJacobian;
  nb::class_<J> c(
      m, "StepJacobian",
      "Derivative of a step: rows d(next qpos, next qvel), in the coordinates of qvel\n"
      "(an increment of a free or ball joint's rotation: a rotation vector, body axes).");
  def_columns(c, "state", &J::state, "(2 nv, 2 nv) to (qpos, qvel)");
  def_columns(c, "ctrl", &J::ctrl, "(2 nv, nu) to ctrl");
  def_columns(c, "friction", &J::friction,
              "(2 nv, npair) to the sliding friction of each pair, in both directions");
  c.def_ro("step", &J::step, "StepResult of the step, solved to round-off");
}

}  // namespace

void bind_results(nb::module_& m) {
  bind_contact(m);
  bind_forward(m);
  bind_step(m);
  bind_jacobian(m);
}

}  // namespace stiction::python
