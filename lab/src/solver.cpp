#include "lab/src/solver.h"

#include <algorithm>
#include <ctime>
#include <sstream>

#include "lab/src/solvers/solvers.h"
#include "stiction/error.h"

namespace stiction::lab {
namespace {

constexpr double kNoMotion = 1e-15;  // relative change of the impulses that counts as none

// Of this thread on the processor, s: what other programs do not change.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void check(const Settings& s, int rows) {
  if (!(s.tolerance > 0)) throw ArgumentError("tolerance: must be > 0");
  if (s.max_iterations < 1) throw ArgumentError("max_iterations: must be at least 1");
  if (!(s.over_relaxation >= 1 && s.over_relaxation <= 1.8))
    throw ArgumentError("over_relaxation: must be between 1 and 1.8");
  if (!(s.stiction_tolerance > 0)) throw ArgumentError("stiction_tolerance: must be > 0");
  if (!(s.regularization > 0)) throw ArgumentError("regularization: must be > 0");
  if (!(s.near_rigid >= 0)) throw ArgumentError("near_rigid: must be >= 0");
  if (s.warm.size() != 0 && (s.warm.size() != rows || !s.warm.allFinite())) {
    std::ostringstream message;
    message << "warm: needs " << rows << " finite impulses, has " << s.warm.size();
    throw ArgumentError(message.str());
  }
}

// A servo at the end of its range, a limit or dry friction that acts at v.
bool left_out(const reference::RowConstraint& row, const VecX& v) {
  const double speed = row.J.dot(v);
  const reference::Scalar e = evaluate(row.law, speed);
  if (std::holds_alternative<reference::ServoLaw>(row.law)) return e.hessian == 0;
  return e.impulse != 0;
}

}  // namespace

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::converged: return "converged";
    case Outcome::stalled: return "stalled";
    case Outcome::not_converged: return "not_converged";
    case Outcome::failed: break;
  }
  return "failed";
}

Monitor::Monitor(const DualProblem& p, Law law, const Settings& s)
    : p_(p), law_(law), settings_(s), speed_(0) {
  for (int i = 0; i < p.contacts(); ++i) speed_ = std::max(speed_, p.g.segment<3>(3 * i).norm());
  if (speed_ == 0) speed_ = 1;
}

double Monitor::relative(const VecX& lambda) const {
  return natural_residual(p_, law_, lambda, p_.velocity(lambda)) / speed_;
}

bool Monitor::done(const VecX& lambda) {
  return done(lambda, relative(lambda));
}

bool Monitor::done(const VecX& lambda, double residual) {
  ++iterations;
  own = residual;
  if (settings_.history) history.push_back({own, ncp_residual(p_, lambda, p_.G * lambda + p_.g)});
  const double scale = lambda.size() > 0 ? lambda.cwiseAbs().maxCoeff() : 0;
  const bool still = last_.size() == lambda.size() && lambda.size() > 0 &&
                     (lambda - last_).cwiseAbs().maxCoeff() <= kNoMotion * scale;
  last_ = lambda;
  if (!std::isfinite(own) || !lambda.allFinite()) {
    outcome = Outcome::failed;
  } else if (own <= settings_.tolerance) {
    outcome = Outcome::converged;
  } else if (still) {
    outcome = Outcome::stalled;
  } else {
    return iterations >= settings_.max_iterations;
  }
  return true;
}

Iterates finish(Monitor& m, VecX impulse) {
  return {std::move(impulse), {}, m.outcome, m.iterations, m.own, std::move(m.history)};
}

VecX start(const DualProblem& p, const Settings& s) {
  return s.warm.size() != 0 ? s.warm : VecX(VecX::Zero(p.g.size()));
}

const std::vector<Solver>& solvers() {
  static const std::vector<Solver> all = {
      {"lcp", "pyramid", "projected Gauss-Seidel on the linearized cone", lcp, false},
      {"ccp", "convex", "projected block Gauss-Seidel on the cone complementarity", ccp, false},
      {"ncp", "coulomb", "projected Gauss-Seidel with the safe step", ncp, false},
      {"raisim", "coulomb", "bisection per contact along v_n = 0", raisim, false},
      {"admm", "convex", "ADMM, adaptive penalty and over-relaxation", admm, false},
      {"staggered", "coulomb", "normal and friction problems in turns", staggered, false},
      {"sap", "sap", "primal Newton on SAP's compliant cone", sap, true},
      {"lagged", "lagged", "primal Newton, friction bounded by the last normal impulse", lagged,
       true},
      {"similar", "similar", "primal Newton, friction bounded by the present one", similar, true},
      {"interior", "coulomb", "primal-dual interior point on the nonlinear cone", interior, false},
  };
  return all;
}

const Solver& solver(std::string_view name) {
  std::ostringstream known;
  for (const Solver& s : solvers()) {
    if (s.name == name) return s;
    known << " " << s.name;
  }
  throw ArgumentError("unknown solver \"" + std::string(name) + "\"; there are:" + known.str());
}

Solution solve(const ContactProblem& problem, std::string_view name, const Settings& settings) {
  const Solver& chosen = solver(name);
  check(problem);
  check(settings, 3 * problem.contacts());

  double begin = thread_seconds();
  const DualProblem d = dual(problem);
  Solution s;
  s.delassus_seconds = thread_seconds() - begin;
  begin = thread_seconds();
  // without contacts and rows nothing is left to solve
  const bool empty = problem.contacts() == 0 && (problem.rows.empty() || !chosen.joint_rows);
  Iterates it = empty ? Iterates{VecX(0), d.free, Outcome::converged, 0, 0, {}}
                      : chosen.run(problem, d, settings);
  s.seconds = thread_seconds() - begin;

  s.impulse = std::move(it.impulse);
  s.v = it.v.size() > 0 ? std::move(it.v) : VecX(d.free + d.response * s.impulse);
  s.velocity = problem.J * s.v + problem.bias;
  if (!chosen.joint_rows)
    for (const auto& row : problem.rows)
      if (left_out(row, s.v))
        throw ArgumentError(std::string(name) +
                            ": a joint limit, dry friction of a joint or a servo at the end of its "
                            "range acts; sap, lagged and similar take them");
  s.outcome = it.outcome;
  s.iterations = it.iterations;
  s.own = it.own;
  s.condition = it.condition;
  s.history = std::move(it.history);
  s.ncp = ncp_residual(d, s.impulse, s.velocity);
  s.laws = laws(d, s.impulse, s.velocity);
  return s;
}

}  // namespace stiction::lab
