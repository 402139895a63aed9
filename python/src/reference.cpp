// Reference: one environment in double precision. The GIL is released while it computes.
#include "reference.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <utility>

#include "rays.h"

namespace stiction::python {

InputArrays::InputArrays(const Model& m, const MaybeArray& qfrc, const MaybeArray& xfrc,
                         const MaybeArray& pos, const MaybeArray& quat, const MaybeArray& vel,
                         const MaybeArray& anchors, const MaybeArray& friction_anchors,
                         const MaybeArray& rebounds, const MaybeArray& active,
                         const MaybeArray& activations)
    : qfrc_applied(or_none(qfrc), "qfrc_applied", {m.nv}, "(nv,)"),
      xfrc_applied(or_none(xfrc), "xfrc_applied", {m.nbody, 6}, "(nbody, 6)"),
      mocap_pos(or_none(pos), "mocap_pos", {m.nmocap, 3}, "(nmocap, 3)"),
      mocap_quat(or_none(quat), "mocap_quat", {m.nmocap, 4}, "(nmocap, 4)"),
      mocap_vel(or_none(vel), "mocap_vel", {m.nmocap, 6}, "(nmocap, 6)"),
      anchor(or_none(anchors), "anchor", {m.nanchor, 3}, "(nanchor, 3)"),
      friction_anchor(or_none(friction_anchors), "friction_anchor", {m.nv + m.ntendon},
                      "(nv + ntendon,)"),
      rebound(or_none(rebounds), "rebound", {m.nrebound}, "(nrebound,)"),
      eq_active(or_none(active), "eq_active", {m.neq}, "(neq,)"),
      act(or_none(activations), "act", {m.na}, "(na,)") {}

Inputs InputArrays::inputs() const {
  return {.ctrl = ctrl,
          .qfrc_applied = qfrc_applied,
          .xfrc_applied = xfrc_applied,
          .mocap_pos = mocap_pos,
          .mocap_quat = mocap_quat,
          .mocap_vel = mocap_vel,
          .anchor = anchor,
          .friction_anchor = friction_anchor,
          .rebound = rebound,
          .eq_active = eq_active,
          .act = act};
}

namespace {

// forward or step: the same arguments, checked in the same way.
template <class Result>
Result evaluate(Result (Reference::*method)(std::span<const double>, std::span<const double>,
                                            const Inputs&) const,
                const BoundReference& self, const ArrayLike& qpos, const ArrayLike& qvel,
                const MaybeArray& ctrl, const MaybeArray& qfrc_applied,
                const MaybeArray& xfrc_applied, const MaybeArray& mocap_pos,
                const MaybeArray& mocap_quat, const MaybeArray& mocap_vel, const MaybeArray& anchor,
                const MaybeArray& friction_anchor, const MaybeArray& rebound,
                const MaybeArray& eq_active, const MaybeArray& act, double time) {
  const Model& m = *self.model->model;
  const Input q(qpos, "qpos", {m.nq}, "(nq,)");
  const Input v(qvel, "qvel", {m.nv}, "(nv,)");
  InputArrays arrays(m, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat, mocap_vel, anchor,
                     friction_anchor, rebound, eq_active, act);
  arrays.ctrl = Input(or_none(ctrl), "ctrl", {m.nu}, "(nu,)");
  Inputs inputs = arrays.inputs();
  inputs.time = time;
  const nb::gil_scoped_release release;
  return (self.engine.*method)(q, v, inputs);
}

template <class Result>
void def_evaluation(nb::class_<BoundReference>& c, const char* name,
                    Result (Reference::*method)(std::span<const double>, std::span<const double>,
                                                const Inputs&) const,
                    const char* doc) {
  c.def(
      name,
      [method](const BoundReference& self, const ArrayLike& qpos, const ArrayLike& qvel,
               const MaybeArray& ctrl, const MaybeArray& qfrc_applied,
               const MaybeArray& xfrc_applied, const MaybeArray& mocap_pos,
               const MaybeArray& mocap_quat, const MaybeArray& mocap_vel, const MaybeArray& anchor,
               const MaybeArray& friction_anchor, const MaybeArray& rebound,
               const MaybeArray& eq_active, const MaybeArray& act, double time) {
        return evaluate(method, self, qpos, qvel, ctrl, qfrc_applied, xfrc_applied, mocap_pos,
                        mocap_quat, mocap_vel, anchor, friction_anchor, rebound, eq_active, act,
                        time);
      },
      nb::arg("qpos"), nb::arg("qvel"), nb::arg("ctrl") = nb::none(), nb::kw_only(),
      nb::arg("qfrc_applied") = nb::none(), nb::arg("xfrc_applied") = nb::none(),
      nb::arg("mocap_pos") = nb::none(), nb::arg("mocap_quat") = nb::none(),
      nb::arg("mocap_vel") = nb::none(), nb::arg("anchor") = nb::none(),
      nb::arg("friction_anchor") = nb::none(), nb::arg("rebound") = nb::none(),
      nb::arg("eq_active") = nb::none(), nb::arg("act") = nb::none(), nb::arg("time") = 0.0, doc);
}

}  // namespace

void bind_reference(nb::module_& m) {
  nb::class_<BoundReference> c(m, "Reference",
                               "The slow, obvious engine: one environment, double precision.\n\n"
                               "Stateless and thread-safe: every method is a function of its "
                               "arguments. The GIL is released\n"
                               "while it computes.");
  c.def(
      "__init__",
      [](BoundReference* self, const nb::object& given, const nb::object& options) {
        std::shared_ptr<LoadedModel> model = model_argument(given, "Reference");
        const Options o = options_argument(options).value_or(Options{});
        model = at_timestep(std::move(model), o);
        Reference engine(model->model, o);
        new (self) BoundReference{std::move(model), std::move(engine)};
      },
      nb::arg("model"), nb::arg("options") = nb::none(),
      nb::sig("def __init__(self, model: Model, options: Options | None = None) -> None"));
  c.def_prop_ro(
      "model", [](const BoundReference& r) { return r.model; },
      "as it is used: Model.with_timestep where the options have another timestep");
  c.def_prop_ro(
      "options", [](const BoundReference& r) { return r.engine.options(); },
      "with every default resolved");

  def_evaluation(
      c, "forward", &Reference::forward,
      "Dynamics of a state without a step.\n\n"
      "qpos: (nq,) m, rad, unit quaternions; qvel: (nv,) m/s, rad/s.\n"
      "ctrl: (nu,). qfrc_applied: (nv,) N, N m. xfrc_applied: (nbody, 6) force and torque\n"
      "at the centre of mass, world axes. mocap_pos: (nmocap, 3). mocap_quat: (nmocap, 4).\n"
      "mocap_vel: (nmocap, 6), angular velocity and linear of the frame's origin, world axes.\n"
      "anchor: (nanchor, 3) m or rad. friction_anchor: (nv + ntendon,) m or rad. rebound: "
      "(nrebound,) m/s. eq_active: (neq,), 0: the equality constraint holds "
      "nothing.\n"
      "act: (na,) activations of the actuators.\n"
      "None: zero (mocap: the model's pose, eq_active: the model's eq_active0). time: s, for "
      "clocks.\n\n"
      "Equation of motion: M dv/dt + qfrc_bias = qfrc_passive + qfrc_actuator + applied +\n"
      "constraints.\n\n"
      "Raises ArgumentError on a wrong shape or a number that is not finite.");
  def_evaluation(
      c, "step", &Reference::step,
      "One time step; arguments as in `forward`.\n\n"
      "Solves the convex problem v = argmin |v - v_star|_A^2 / 2 + contact and constraint\n"
      "potentials, then advances qpos with the new velocity (symplectic Euler).\n\n"
      "Raises ArgumentError on a wrong shape or a state that is not finite. Controls and forces\n"
      "that are not finite count as zero; whatever goes wrong inside sets a bit of `status` and\n"
      "leaves the state as it was.");
  def_evaluation(
      c, "step_jacobian", &Reference::step_jacobian,
      "Derivative of a step to qpos, qvel, ctrl and friction; arguments as in `forward`.\n\n"
      "By the implicit function theorem at the minimum of the convex problem, which is solved to\n"
      "round-off whatever solver_tolerance (docs/method.md, 6). Anchors, activations, applied\n"
      "forces, mocap poses and velocities are held.\n\n"
      "Kinks: where a contact point just begins to push, a joint just reaches its limit, a "
      "control\n"
      "or a force its range, and where a contact moves on to another edge, it is the derivative "
      "of\n"
      "one side. Away from what it touches a body has no derivative to it: 0, exactly, but with\n"
      "normal_law = 'log_barrier'. Sticking contact changes within slips of stiction_tolerance: "
      "no\n"
      "kink, but a curvature on that scale. Of a frozen step, which keeps its state, it is the\n"
      "identity for `state` and 0 elsewhere.\n\n"
      "Raises as `step`.");
  bind_rays(c);
}

}  // namespace stiction::python
