// Polynomial springs and dampers: the force −x c(x), c(x) = linear + c1 x + c2 x².
#pragma once

#include "reference/base/real.h"

namespace stiction::reference::inline STICTION_REAL {

// Returns whether any coefficient is given.
inline bool is_given(double linear, std::span<const double> poly, int i) {
  return linear != 0 || poly[at(2 * i)] != 0 || poly[at(2 * i + 1)] != 0;
}

inline Real polynomial(double linear, std::span<const double> poly, int i, const Real& x) {
  return linear + poly[at(2 * i)] * x + poly[at(2 * i + 1)] * x * x;
}

// Returns ∫ x c(x) dx from 0.
inline Real polynomial_energy(double linear, std::span<const double> poly, int i, const Real& x) {
  return 0.5 * linear * x * x + poly[at(2 * i)] / 3 * x * x * x +
         0.25 * poly[at(2 * i + 1)] * x * x * x * x;
}

}  // namespace stiction::reference::inline STICTION_REAL
