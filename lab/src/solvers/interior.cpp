// Dojo's interior point (Howell et al. 2022) in the coordinates of the problem: the nonlinear cone without
// gliding. In maximal coordinates, with joints and limits as rows: lab/src/maximal.cpp.
#include "lab/src/interior_point.h"
#include "lab/src/solvers/solvers.h"

namespace stiction::lab {

Iterates interior(const ContactProblem& problem, const DualProblem& p, const Settings& s) {
  const Eigen::Index nv = problem.v_star.size();
  ConicProblem conic{problem.A, p.free,    MatX(0, nv),  VecX(),    MatX(0, nv),
                     VecX(),    problem.J, problem.bias, problem.mu};
  if (problem.R.size() > 0 && problem.R.maxCoeff() > 0) {
    // compliance: a dof without a force of its own per row, u = J v + w with w = R λ
    const Eigen::Index rows = 3 * problem.contacts();
    const VecX R = problem.R.cwiseMax(1e-300);
    MatX M = MatX::Zero(nv + rows, nv + rows), J(rows, nv + rows);
    M.topLeftCorner(nv, nv) = problem.A;
    M.diagonal().tail(rows) = R.cwiseInverse();
    J << problem.J, MatX::Identity(rows, rows);
    conic.M = M, conic.J = J;
    conic.v_star = VecX::Zero(nv + rows);
    conic.v_star.head(nv) = p.free;
    conic.E = MatX(0, nv + rows), conic.L = MatX(0, nv + rows);
  }
  // servos are in p.free and in A of the dual problem
  for (const auto& row : problem.rows)
    if (const auto* servo = std::get_if<reference::ServoLaw>(&row.law))
      conic.M.topLeftCorner(nv, nv) += problem.dt * servo->kappa * row.J * row.J.transpose();

  Monitor monitor(p, Law::coulomb, s);
  const ConicSolution solution = interior_point(
      conic, s.tolerance, s.max_iterations,
      [&monitor](const VecX&, const VecX& lambda, double own) { monitor.done(lambda, own); });
  monitor.outcome = solution.failed      ? Outcome::failed
                    : solution.converged ? Outcome::converged
                                         : Outcome::not_converged;
  Iterates it = finish(monitor, solution.impulse);
  it.iterations = solution.iterations;
  return it;
}

}  // namespace stiction::lab
