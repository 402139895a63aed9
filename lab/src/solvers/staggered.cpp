// Staggered projections (Kaufman et al. 2008; Le Lidec et al., algorithm 7, where g̃_N = g_N + G_NT λ_T): the
// normal impulses for a given friction, then friction inside the disks that they leave, in turns.
// Each is a convex problem, solved by ADMM. Nothing guarantees that the turns converge.
#include "lab/src/solvers/solvers.h"
#include "lab/src/solvers/splitting.h"

namespace stiction::lab {
namespace {

constexpr double kInner = 0.1;  // tolerance of the inner problems, in that of the outer one
constexpr int kInnerIterations = 2000;

struct Inner {
  MatX H;
  std::vector<int> rows;
  double L;
};

Inner inner_problem(const DualProblem& p, const std::vector<int>& rows) {
  Inner q{p.G(rows, rows), rows, 0};
  q.H.diagonal() += p.R(rows);
  q.L = rows.empty() ? 0 : q.H.diagonal().maxCoeff();
  return q;
}

template <class Project>
VecX minimize(const Inner& q, const VecX& g, const VecX& x0, double relaxation, double tolerance,
              Project project) {
  int left = kInnerIterations;
  const auto done = [&](const VecX& x) {
    const VecX next = project(x - (q.H * x + g) / q.L);
    return --left <= 0 || q.L * (x - next).cwiseAbs().maxCoeff() <= tolerance;
  };
  return split(q.H, g, x0, relaxation, project, done).x;
}

}  // namespace

Iterates staggered(const ContactProblem&, const DualProblem& p, const Settings& s) {
  std::vector<int> normal, tangent;
  for (int i = 0; i < p.contacts(); ++i) {
    normal.push_back(3 * i + 2);
    tangent.insert(tangent.end(), {3 * i, 3 * i + 1});
  }
  VecX lambda = start(p, s);
  Monitor monitor(p, Law::coulomb, s);
  if (normal.empty()) {
    monitor.done(lambda);
    return finish(monitor, lambda);
  }
  const Inner N = inner_problem(p, normal), T = inner_problem(p, tangent);
  const MatX G_NT = p.G(normal, tangent);
  const double tolerance = kInner * s.tolerance * monitor.speed();
  VecX lambda_n = lambda(normal), lambda_t = lambda(tangent);
  do {
    const VecX g_n = p.g(normal) + G_NT * lambda_t;
    lambda_n = minimize(N, g_n, lambda_n, s.over_relaxation, tolerance,
                        [](const VecX& x) { return VecX(x.cwiseMax(0)); });
    const VecX g_t = p.g(tangent) + G_NT.transpose() * lambda_n;
    lambda_t = minimize(T, g_t, lambda_t, s.over_relaxation, tolerance, [&](const VecX& x) {
      VecX y(x.size());
      for (int i = 0; i < p.contacts(); ++i)
        y.segment<2>(2 * i) = project_disk(x.segment<2>(2 * i), p.mu[i] * lambda_n[i]);
      return y;
    });
    lambda(normal) = lambda_n;
    lambda(tangent) = lambda_t;
  } while (!monitor.done(lambda));
  return finish(monitor, lambda);
}

}  // namespace stiction::lab
