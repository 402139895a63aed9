// The solves of a step: with the bounds of friction of its start, renewed a number of times, or at their fixed point.
#pragma once

#include "reference/contact/contacts.h"
#include "reference/solver/newton.h"

namespace stiction::reference::inline STICTION_REAL {

// From `start`; leaves the bounds with which it ends in `problem`, whose points are those of `contacts`.
//
// friction_iterations = s: s problems, from the second on bounded by the normal impulse of the one before. "auto"
// and "fixed_point": friction is bounded by the normal impulse of the solution itself, n0 = n(v_n), Coulomb's law.
// That is the root of
//
//   r(v) = A (v − v*) − Jᵀγ(v; n0 = n(v_n)),    ∂r/∂v = H − Jᵀ ∂γ/∂n0 n' J_n
//
// and the minimum of nothing, so Newton's steps are shortened until ‖D r‖ falls, and where they do not help the
// bounds are renewed by the relaxation of Irons and Tuck (docs/method.md, 2). Where no root is found, the convex
// problem with the last bounds is solved.
Solution solve_contacts(const Options& o, const VecX& start,
                        const std::vector<ContactPoint>& contacts, Problem& problem);

}  // namespace stiction::reference::inline STICTION_REAL
