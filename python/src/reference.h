// The bound reference engine and its arguments.
#pragma once

#include <memory>
#include <optional>

#include "arrays.h"
#include "module.h"
#include "stiction/reference.h"

namespace stiction::python {

// Keeps the Python Model that it was made from, so that `ref.model is model`.
struct BoundReference {
  std::shared_ptr<LoadedModel> model;
  Reference engine;
};

// The arguments of a step with their memory; None: zero (mocap: the model's pose).
struct InputArrays {
  Input ctrl, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat, mocap_vel, anchor, friction_anchor,
      rebound, eq_active, act;

  // All but ctrl.
  InputArrays(const Model& m, const MaybeArray& qfrc_applied, const MaybeArray& xfrc_applied,
              const MaybeArray& mocap_pos, const MaybeArray& mocap_quat,
              const MaybeArray& mocap_vel, const MaybeArray& anchor,
              const MaybeArray& friction_anchor, const MaybeArray& rebound,
              const MaybeArray& eq_active, const MaybeArray& act);
  Inputs inputs() const;
};

inline nb::object or_none(const MaybeArray& a) {
  return a ? nb::object(*a) : nb::none();
}

}  // namespace stiction::python
