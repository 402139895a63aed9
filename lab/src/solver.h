// The interface of all solvers: a contact problem in; impulses, velocities and what happened on the
// way out. A solver is one file in lab/src/solvers and one line in solver.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/src/contact_problem.h"

namespace stiction::lab {

struct Settings {
  double tolerance = 1e-8;       // of the solver's own residual, relative to the speed max |g_i|
  int max_iterations = 10000;    // sweeps, Newton steps, ...
  bool history = false;          // record Coulomb's residual after every iteration
  bool condition = false;        // the Newton solvers: find Solution::condition
  VecX warm;                     // (3n) impulses to start from; empty: zero
  double over_relaxation = 1.6;  // admm: 1 to 1.8
  double stiction_tolerance = 1e-4;  // v_s, m/s: lagged, similar
  double regularization = 1e-3;      // σ: lagged, similar, sap
  double near_rigid = 1;             // β: sap
};

// converged: own residual below the tolerance. stalled: the iterates no longer move, above it.
enum class Outcome { converged, stalled, not_converged, failed };
const char* name(Outcome outcome);

struct Record {
  double own = 0;  // residual of the law that the solver solves, relative
  Residual ncp;    // of Coulomb's law
};

struct Solution {
  VecX impulse;   // (3n) λ
  VecX v;         // (nv)
  VecX velocity;  // (3n) u = J v + bias: compliance leaves u below zero
  Outcome outcome = Outcome::not_converged;
  int iterations = 0;
  double own = 0;  // relative residual of the solver's own law at the end
  Residual ncp;    // of Coulomb's law, without compliance
  Laws laws;
  double seconds = 0;  // on the processor, of the solver alone, without the Delassus matrix
  double delassus_seconds = 0;  // of the Delassus matrix
  // Largest over smallest eigenvalue of D H D at the end, D = diag(A)^-1/2; 0 where it was not asked for.
  double condition = 0;
  std::vector<Record> history;
};

// What a solver sees of the iteration: decides when to stop and keeps the history.
class Monitor {
 public:
  Monitor(const DualProblem& p, Law law, const Settings& s);
  // After an iteration that ended at lambda; evaluates u afresh. True: stop.
  bool done(const VecX& lambda);
  // The same for solvers that have a residual of their own.
  bool done(const VecX& lambda, double own);

  Outcome outcome = Outcome::not_converged;
  int iterations = 0;
  double own = 0;
  std::vector<Record> history;
  // Own residual at lambda, relative to the speed of the problem.
  double relative(const VecX& lambda) const;
  double speed() const { return speed_; }

 private:
  const DualProblem& p_;
  Law law_;
  const Settings& settings_;
  double speed_;
  VecX last_;
};

// Fills impulse and, in the primal solvers, v.
struct Iterates {
  VecX impulse;
  VecX v;  // empty: v follows from the impulses
  Outcome outcome;
  int iterations;
  double own;
  std::vector<Record> history;
  double condition = 0;
};
Iterates finish(Monitor& monitor, VecX impulse);

struct Solver {
  std::string_view name, law, summary;
  Iterates (*run)(const ContactProblem& problem, const DualProblem& dual, const Settings& settings);
  bool joint_rows;  // takes limits and dry friction of the joints
};
const std::vector<Solver>& solvers();
// Throws ArgumentError with the names that there are.
const Solver& solver(std::string_view name);

// Throws ArgumentError where the problem has rows that would act and the solver doesn't take them, and
// where a setting is out of range.
Solution solve(const ContactProblem& problem, std::string_view name, const Settings& settings);

// The impulses that a solver starts from.
VecX start(const DualProblem& p, const Settings& s);

}  // namespace stiction::lab
