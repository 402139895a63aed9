// CCP-ADMM: min ½ λᵀ (G + R) λ + gᵀ λ over the cones. Le Lidec et al., algorithm 3. Among many impulses
// with the same motion it finds the smallest when it starts from zero.
#include <cmath>

#include "lab/src/solvers/solvers.h"
#include "lab/src/solvers/splitting.h"

namespace stiction::lab {

Iterates admm(const ContactProblem&, const DualProblem& p, const Settings& s) {
  Monitor monitor(p, Law::convex, s);
  const auto project = [&p](const VecX& x) {
    VecX y(x.size());
    for (int i = 0; i < p.contacts(); ++i)
      y.segment<3>(3 * i) = project_cone(x.segment<3>(3 * i), p.mu[i]);
    return y;
  };
  // λ_i = S_i x_i with S_i² = 1/|G_ii + R_i|: cones stay cones, and the blocks have norm 1
  VecX S(p.g.size());
  for (int i = 0; i < p.contacts(); ++i)
    S.segment<3>(3 * i).setConstant(1 / std::sqrt(p.block(i).norm()));
  MatX H = p.G;
  H.diagonal() += p.R;
  const Splitting result = split(S.asDiagonal() * H * S.asDiagonal(), S.cwiseProduct(p.g),
                                 start(p, s).cwiseQuotient(S), s.over_relaxation, project,
                                 [&](const VecX& x) { return monitor.done(S.cwiseProduct(x)); });
  return finish(monitor, S.cwiseProduct(result.x));
}

}  // namespace stiction::lab
