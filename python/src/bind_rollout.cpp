// Reference.rollout: the arguments and the result of roll_out in NumPy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <optional>
#include <string>

#include "as_array.h"
#include "reference.h"
#include "rollout.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

// Number of steps: `nstep`, or the rows of a (nstep, nu) ctrl.
int steps(std::optional<int> nstep, const nb::object& ctrl) {
  if (nstep && *nstep < 0)
    throw ArgumentError("nstep = " + std::to_string(*nstep) + ": must be >= 0");
  if (nstep) return *nstep;
  if (!ctrl.is_none() && nb::cast<int>(ctrl.attr("ndim")) == 2)
    return nb::cast<int>(ctrl.attr("shape")[0]);
  throw ArgumentError("nstep: give it, or a ctrl of shape (nstep, nu)");
}

// Lets Ctrl-C end a long rollout: asks Python ten times a second.
class Interrupt {
 public:
  bool go_on() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return true;
    next_ = now + std::chrono::milliseconds(100);
    const nb::gil_scoped_acquire acquire;
    raised_ = PyErr_CheckSignals() != 0;
    return !raised_;
  }
  // With the GIL held.
  void rethrow() const {
    if (raised_) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  bool raised_ = false;
};

Rollout rollout(const BoundReference& self, const ArrayLike& qpos, const ArrayLike& qvel,
                const MaybeArray& ctrl, std::optional<int> nstep, const MaybeArray& qfrc_applied,
                const MaybeArray& xfrc_applied, const MaybeArray& mocap_pos,
                const MaybeArray& mocap_quat, const MaybeArray& mocap_vel, const MaybeArray& anchor,
                const MaybeArray& friction_anchor, const MaybeArray& rebound,
                const MaybeArray& eq_active, const MaybeArray& act, bool energy) {
  const Model& m = *self.model->model;
  const Input q(qpos, "qpos", {m.nq}, "(nq,)");
  const Input v(qvel, "qvel", {m.nv}, "(nv,)");
  InputArrays arrays(m, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat, mocap_vel, anchor,
                     friction_anchor, rebound, eq_active, act);

  const nb::object controls = ctrl ? as_array(*ctrl, "ctrl") : nb::none();
  const int n = steps(nstep, controls);
  const bool held = !controls.is_none() && nb::cast<int>(controls.attr("ndim")) == 1;
  arrays.ctrl = held ? Input(controls, "ctrl", {m.nu}, "(nu,)")
                     : Input(controls, "ctrl", {n, m.nu}, "(nstep, nu)");

  Interrupt interrupt;
  Rollout result;
  {
    const nb::gil_scoped_release release;
    result = roll_out(self.engine, q, v, arrays.inputs(), ctrl.has_value() && !held, n, energy,
                      [&] { return interrupt.go_on(); });
  }
  interrupt.rethrow();
  return result;
}

void def_trajectory(nb::class_<Rollout>& c, const char* name, std::vector<double> Rollout::*field,
                    int Rollout::*columns, const char* doc) {
  c.def_prop_ro(
      name,
      [field, columns](nb::handle_t<Rollout> self) {
        auto& r = nb::cast<Rollout&>(self);
        return matrix_view((r.*field).data(), static_cast<std::size_t>(r.nstep) + 1,
                           static_cast<std::size_t>(r.*columns), self);
      },
      doc);
}

}  // namespace

void bind_rollout(nb::module_& m) {
  nb::class_<Rollout> c(m, "Rollout", "A trajectory; the first row is the initial state.");
  c.def_ro("nstep", &Rollout::nstep);
  def_trajectory(c, "qpos", &Rollout::qpos, &Rollout::nq, "(nstep+1, nq)");
  def_trajectory(c, "qvel", &Rollout::qvel, &Rollout::nv, "(nstep+1, nv)");
  def_array<3>(c, "anchor", &Rollout::anchor, "(nanchor, 3) after the last step, m or rad");
  def_array(c, "friction_anchor", &Rollout::friction_anchor,
            "(nv + ntendon,) after the last step, m or rad");
  def_array(c, "rebound", &Rollout::rebound, "(nrebound,) after the last step, m/s");
  def_array(c, "act", &Rollout::act, "(na,) activations after the last step");
  def_array<3>(c, "mocap_pos", &Rollout::mocap_pos, "(nmocap, 3) after the last step, m");
  def_array<4>(c, "mocap_quat", &Rollout::mocap_quat, "(nmocap, 4) the same, w x y z");
  def_array<2>(c, "energy", &Rollout::energy,
               "(nstep+1, 2) kinetic and potential energy, J; no rows unless asked for");
  def_array(c, "residual", &Rollout::residual, "(nstep,) relative momentum residual");
  def_array(c, "iterations", &Rollout::iterations, "(nstep,) Newton iterations");
  def_array(c, "ncontact", &Rollout::ncontact, "(nstep,) points in the problem");
  def_array(c, "status", &Rollout::status, "(nstep,) bits of Status");
  c.def("__repr__",
        [](const Rollout& r) { return "<Rollout nstep=" + std::to_string(r.nstep) + ">"; });

  auto reference = nb::borrow<nb::class_<BoundReference>>(nb::type<BoundReference>());
  reference.def(
      "rollout", &rollout, nb::arg("qpos"), nb::arg("qvel"), nb::arg("ctrl") = nb::none(),
      nb::arg("nstep") = nb::none(), nb::kw_only(), nb::arg("qfrc_applied") = nb::none(),
      nb::arg("xfrc_applied") = nb::none(), nb::arg("mocap_pos") = nb::none(),
      nb::arg("mocap_quat") = nb::none(), nb::arg("mocap_vel") = nb::none(),
      nb::arg("anchor") = nb::none(), nb::arg("friction_anchor") = nb::none(),
      nb::arg("rebound") = nb::none(), nb::arg("eq_active") = nb::none(),
      nb::arg("act") = nb::none(), nb::arg("energy") = false,
      "Steps `nstep` times; the same bits as a loop over `step`.\n\n"
      "ctrl: (nstep, nu), one row per step, or (nu,), held. Applied forces are held, and so are\n"
      "mocap poses where mocap_vel does not move them.\n"
      "energy: also compute kinetic and potential energy of every state (one `forward` each).\n\n"
      "After a step that left the state as it was (bad_state, cholesky_failed, velocity_limit) "
      "the rest of the trajectory repeats that state and status.\n\n"
      "Raises ArgumentError on a wrong shape. Ctrl-C ends a long rollout.");
}

}  // namespace stiction::python
