// CCP-PGS: block Gauss–Seidel with projection on the cone (Chrono). Le Lidec et al., algorithm 2, with
// the step 1/λ_max(G_ii + R_i); the step 3/trace of their text need not converge.
#include "lab/src/solvers/solvers.h"

namespace stiction::lab {

Iterates ccp(const ContactProblem&, const DualProblem& p, const Settings& s) {
  VecX lambda = start(p, s), u = p.velocity(lambda), L(p.contacts());
  for (int i = 0; i < p.contacts(); ++i) L[i] = largest_eigenvalue(p.block(i));
  Monitor monitor(p, Law::convex, s);
  do {
    for (int i = 0; i < p.contacts(); ++i) {
      auto block = lambda.segment<3>(3 * i);
      const Vec3 next = project_cone(block - u.segment<3>(3 * i) / L[i], p.mu[i]);
      const Vec3 change = next - block;
      u += p.G.middleCols<3>(3 * i) * change;
      u.segment<3>(3 * i) += p.R.segment<3>(3 * i).cwiseProduct(change);
      block = next;
    }
  } while (!monitor.done(lambda));
  return finish(monitor, lambda);
}

}  // namespace stiction::lab
