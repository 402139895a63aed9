// The rows and the solve against the reference engine.
#include "physics/solve.h"

#include <gtest/gtest.h>

#include <iomanip>
#include <iostream>

#include "physics/solve_models.h"
#include "physics/solve_scene.h"
#include "physics/teams.h"

namespace stiction::test {
namespace {

using namespace physics;

struct Variant {
  const char* name;
  ContactModel model;
  Stiction stiction;
};
constexpr Variant kVariants[] = {
    {"lagged", ContactModel::lagged, Stiction::regularized},
    {"anchored", ContactModel::lagged, Stiction::anchored},
    {"similar", ContactModel::similar, Stiction::regularized},
    {"sap", ContactModel::sap, Stiction::regularized},
};
Options options(const Variant& v) {
  Options o;
  o.contact_model = v.model, o.stiction = v.stiction;
  return o;
}

template <class S, class Team>
void run(const Team& team, Scene<S>& s) {
  rows(team, s.m(), s.e);
  solve(team, s.m(), s.e);
}

struct Statistics {
  std::vector<double> iterations, residual;
  double evaluations = 0, stalled = 0, capped = 0, failed = 0, error = 0, points = 0;
  void add(const Env<double>&) = delete;
  template <class S>
  void add(const Scene<S>& s, int lane, double e) {
    iterations.push_back(s.number(Field::solver_niter, 0, lane));
    residual.push_back(s.number(Field::solver_residual, 0, lane));
    evaluations += s.number(Field::solver_nls, 0, lane);
    points += s.number(Field::ncon, 0, lane);
    stalled += s.number(Field::flags, 5, lane), capped += s.number(Field::flags, 4, lane);
    failed += s.number(Field::flags, 0, lane) + s.number(Field::flags, 2, lane);
    error = std::isfinite(e) ? std::max(error, e) : e;
  }
  void print(const std::string& name) {
    std::sort(iterations.begin(), iterations.end()), std::sort(residual.begin(), residual.end());
    const double n = static_cast<double>(iterations.size());
    double sum = 0;
    for (const double i : iterations) sum += i;
    std::cout << std::setprecision(3) << name << ": points " << points / n << ", iterations "
              << sum / n << " p95 " << iterations[iterations.size() * 95 / 100] << " max "
              << iterations.back() << ", evaluations " << evaluations / n << ", stalled "
              << stalled / n << ", capped " << capped << ", failed " << failed << ", residual p95 "
              << residual[residual.size() * 95 / 100] << " max " << residual.back() << ", error "
              << error << "\n";
  }
};

template <class S>
double error(const Scene<S>& s, const Case& c, int lane) {
  const VecX v = vector(s.get(Field::v, lane)), expected = vector(c.result.qvel);
  const double g = 9.81 * s.m().opt.timestep;
  const double scale = norm_A(c.free.A, expected) +
                       g * std::sqrt(c.free.A.diagonal().head(std::min<int>(3, s.m().nv)).sum());
  return norm_A(c.free.A, v - expected) / scale;
}

template <class S>
Statistics statistics(const ModelPtr& model, const Variant& variant, double tolerance, int count) {
  Options reference = step_options(*model, options(variant), 1e-12), o = reference;
  o.solver_tolerance = tolerance, o.max_iterations = 32;
  Statistics result;
  for (const State& state : rollout(model, reference, count, 10, 7)) {
    const Case c = make_case(model, reference, state);
    if (any(c.result.status, kFrozen)) continue;
    Scene<S> s(model, o, {c});
    run(TeamOfOne(), s);
    result.add(s, 0, error(s, c, 0));
  }
  return result;
}

TEST(Solve, AgreesWithTheReferenceInDouble) {
  for (const TestModel& t : solve_models())
    for (const Variant& v : kVariants) {
      Statistics s = statistics<double>(t.model, v, 1e-12, 40);
      s.print(t.name + " " + v.name);
      // both engines stop at a residual of 1e-12 or at the round-off floor; H >= A turns a residual
      // into an error of at most that size
      EXPECT_LT(s.error, 1e-9) << t.name << " " << v.name;
      EXPECT_EQ(s.failed, 0);
    }
}

TEST(Solve, AgreesWithTheReferenceInFloat) {
  for (const TestModel& t : solve_models())
    for (const Variant& v : kVariants) {
      Statistics s = statistics<float>(t.model, v, 1e-4, 40);
      s.print(t.name + " " + v.name);
      EXPECT_LT(s.error, 1e-4) << t.name << " " << v.name;
      EXPECT_EQ(s.failed, 0);
    }
}

}  // namespace
}  // namespace stiction::test
