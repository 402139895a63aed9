// LCP-PGS: Gauss–Seidel over the rows, friction in the pyramid |λ_x|, |λ_y| <= μ λ_n (ODE, Bullet).
// Le Lidec et al., algorithm 1. Its axes can be seen in the motion.
#include <algorithm>

#include "lab/src/solvers/solvers.h"

namespace stiction::lab {

Iterates lcp(const ContactProblem&, const DualProblem& p, const Settings& s) {
  VecX lambda = start(p, s), u = p.velocity(lambda);
  Monitor monitor(p, Law::pyramid, s);
  do {
    for (int i = 0; i < p.contacts(); ++i)
      for (const int a : {2, 0, 1}) {  // the normal first: it bounds the tangents
        const int r = 3 * i + a;
        const double slope = p.G(r, r) + p.R[r];
        if (!(slope > 0)) continue;
        const double bound = p.mu[i] * lambda[3 * i + 2], x = lambda[r] - u[r] / slope;
        const double next = a == 2 ? std::max(0.0, x) : std::clamp(x, -bound, bound);
        u += p.G.col(r) * (next - lambda[r]);
        u[r] += p.R[r] * (next - lambda[r]);
        lambda[r] = next;
      }
  } while (!monitor.done(lambda));
  return finish(monitor, lambda);
}

}  // namespace stiction::lab
