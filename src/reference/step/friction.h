// The solves of a step: with the friction bounds of its start, renewed a number of times, or at their fixed point.
#pragma once

#include "reference/contact/contacts.h"
#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// Solves from `start`; leaves the final bounds in `problem`, whose points are those of `contacts`.
//
// friction_iterations = s: s problems, each after the first bounded by the normal impulse of the preceding one. "auto"
// and "fixed_point": friction is bounded by the normal impulse of the solution itself, n0 = n(v_n), Coulomb's law.
// That is the root of
//
//   r(v) = A (v − v*) − Jᵀγ(v; n0 = n(v_n)),    ∂r/∂v = H − Jᵀ ∂γ/∂n0 n' J_n
//
// which is not the minimum of a function, so Newton steps are shortened until ‖D r‖ decreases; where that fails, the
// bounds are renewed with the relaxation of Irons and Tuck (docs/method.md, 2). If no root is found, the convex
// problem with the last bounds is solved.
Solution solve_contacts(const Options& o, const VecX& start,
                        const std::vector<ContactPoint>& contacts, Problem& problem);

}  // namespace stiction::reference::inline STICTION_REAL
