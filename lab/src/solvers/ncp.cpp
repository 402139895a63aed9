// NCP-PGS: Gauss–Seidel with the horizontal projection on the cone. Le Lidec et al., algorithm 6, with
// the step 1/λ_max of the tangential block; the 1/min of their text diverges where its diagonal is
// unequal. Nothing guarantees that it converges.
#include <algorithm>

#include "lab/src/solvers/solvers.h"

namespace stiction::lab {

Iterates ncp(const ContactProblem&, const DualProblem& p, const Settings& s) {
  VecX lambda = start(p, s), u = p.velocity(lambda), L(p.contacts());
  for (int i = 0; i < p.contacts(); ++i)
    L[i] = largest_eigenvalue(p.block(i).topLeftCorner<2, 2>());
  const auto change_to = [&](int r, double next) {
    u += p.G.col(r) * (next - lambda[r]);
    u[r] += p.R[r] * (next - lambda[r]);
    lambda[r] = next;
  };
  Monitor monitor(p, Law::coulomb, s);
  do {
    for (int i = 0; i < p.contacts(); ++i) {
      const int n = 3 * i + 2;
      change_to(n, std::max(0.0, lambda[n] - u[n] / (p.G(n, n) + p.R[n])));
      if (!(L[i] > 0)) continue;
      const Vec2 t =
          project_disk(lambda.segment<2>(3 * i) - u.segment<2>(3 * i) / L[i], p.mu[i] * lambda[n]);
      change_to(3 * i, t.x());
      change_to(3 * i + 1, t.y());
    }
  } while (!monitor.done(lambda));
  return finish(monitor, lambda);
}

}  // namespace stiction::lab
