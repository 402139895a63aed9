// The rows and the solve against the reference engine.
#include "physics/solver/solve.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <iomanip>
#include <iostream>

#include "physics/solver/solve_cases.h"

namespace stiction::test {
namespace {

using namespace physics;

struct Statistics {
  std::vector<double> iterations, residual;
  double evaluations = 0, stalled = 0, capped = 0, failed = 0, error = 0, points = 0, excess = 0;
  template <class S>
  void add(const Scene<S>& s, int lane, double e, double allowed) {
    iterations.push_back(s.number(Field::solver_niter, 0, lane));
    residual.push_back(s.number(Field::solver_residual, 0, lane));
    evaluations += s.number(Field::solver_nls, 0, lane);
    points += s.number(Field::ncon, 0, lane);
    stalled += s.number(Field::flags, 5, lane), capped += s.number(Field::flags, 4, lane);
    failed += s.number(Field::flags, 0, lane) + s.number(Field::flags, 2, lane);
    error = std::isfinite(e) ? std::max(error, e) : e;
    excess = std::isfinite(e) ? std::max(excess, e / allowed) : e;
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

// H >= A, so that ‖Δv‖_A <= ‖r‖ in the norm of A⁻¹ <= ‖D r‖ / sqrt(λ_min(D A D)), where ‖D r‖ is the
// residual times max(‖D A v‖, ‖D Jᵀγ‖). `residual` counts both engines' and the round-off of r.
double allowed_error(const Case& c, double residual) {
  const VecX D = c.free.A.diagonal().cwiseSqrt().cwiseInverse(), v = vector(c.result.qvel);
  const MatX scaled = D.asDiagonal() * c.free.A * D.asDiagonal();
  const double lowest = Eigen::SelfAdjointEigenSolver<MatX>(scaled).eigenvalues().minCoeff();
  const double scale = std::max(D.cwiseProduct(c.free.A * v).norm(),
                                D.cwiseProduct(vector(c.result.gen_impulse)).norm());
  return residual * (scale + 1e-300) / std::sqrt(lowest);
}

template <class S>
Statistics statistics(const ModelPtr& model, const Variant& variant, double tolerance, int count) {
  Options reference = step_options(*model, options(variant), 1e-12), o = reference;
  o.solver_tolerance = tolerance, o.max_iterations = 32;
  Statistics result;
  for (const SolveCase& state : rollout(model, reference, count, 10, 7)) {
    const Case c = make_case(model, reference, state);
    if (any(c.result.status, kFrozen)) continue;
    Scene<S> s(model, o, {c});
    run(TeamOfOne(), s);
    // 100 roundings of the sums that make the momentum and the impulses
    const double round_off = 100 * physics::epsilon<S>();
    const double residual = s.number(Field::solver_residual, 0, 0) + c.result.residual + round_off;
    result.add(s, 0, error(s, c, 0) / (norm_A(c.free.A, vector(c.result.qvel)) + 1e-12),
               allowed_error(c, residual) / (norm_A(c.free.A, vector(c.result.qvel)) + 1e-12));
  }
  return result;
}

TEST(Solve, AgreesWithTheReferenceInDouble) {
  for (const TestModel& t : solve_models())
    for (const Variant& v : kVariants) {
      Statistics s = statistics<double>(t.for_law(v.model), v, 1e-12, 20);
      s.print(t.name + " " + v.name);
      // a bound of friction has the error of the solve before
      if (v.friction_iterations == 1) {
        EXPECT_LT(s.excess, 1) << t.name << " " << v.name;
      }
      EXPECT_LT(s.error, 1e-9) << t.name << " " << v.name;
      EXPECT_EQ(s.failed, 0);
    }
}

TEST(Solve, AgreesWithTheReferenceInFloat) {
  for (const TestModel& t : solve_models())
    for (const Variant& v : kVariants) {
      Statistics s = statistics<float>(t.for_law(v.model), v, 1e-4, 20);
      s.print(t.name + " " + v.name);
      if (v.friction_iterations == 1) {
        EXPECT_LT(s.excess, 1) << t.name << " " << v.name;
      }
      EXPECT_LT(s.error, 3e-4) << t.name << " " << v.name;
      EXPECT_EQ(s.failed, 0);
    }
}

// Impulses, forces and accelerations that the step reports.
TEST(Solve, OutputsAgreeWithTheReference) {
  for (const TestModel& t : solve_models()) {
    const Options o = step_options(*t.model, one_solve(), 1e-12);
    const Model& m = *t.model;
    int contacts = 0;
    for (const SolveCase& state : rollout(t.model, o, 10, 20, 3)) {
      const Case c = make_case(t.model, o, state);
      Scene<double> s(t.model, o, {c});
      run(TeamOfOne(), s);
      const double dt = *o.timestep;
      const VecX total = vector(c.result.gen_impulse) / dt;
      const VecX sum = vector(s.get(Field::qfrc_constraint)) + vector(s.get(Field::qfrc_actuator));
      // impulses are as far off as p = A (v - v*): 1e-9 of the velocities, with their inertia
      const double scale = (c.free.A * vector(c.result.qvel)).norm() / dt + total.norm();
      EXPECT_LT((sum - total).norm(), 1e-8 * scale) << t.name;
      const VecX wrench = vector(c.result.xfrc_contact);
      EXPECT_LT((vector(s.get(Field::xfrc_contact)) - wrench).norm(),
                1e-7 * (scale + wrench.norm()))
          << t.name;
      const VecX qacc = (vector(c.result.qvel) - vector(state.qvel)) / dt;
      EXPECT_LT((vector(s.get(Field::qacc)) - qacc).norm(), 1e-7 * (1 + qacc.norm())) << t.name;
      for (const Contact& p : c.result.contacts)
        for (int k = 0; k < s.e.npoint[0]; ++k) {
          if (s.e.point_slot[k] != p.slot) continue;
          ++contacts;
          for (int x = 0; x < 3; ++x)
            EXPECT_NEAR(s.e.point_impulse[3 * k + x], p.impulse[at(x)], 1e-8 * dt * scale);
          for (int x = 0; x < 3 && s.m().ncouple > 0; ++x)
            EXPECT_NEAR(s.e.point_couple[3 * k + x], p.couple[at(x)], 1e-8 * dt * scale);
        }
    }
    if (m.npair > 0 && t.name != "panda") {
      EXPECT_GT(contacts, 0) << t.name;
    }
  }
}

// What the solve writes, lane by lane.
template <class S>
std::vector<double> outputs(const Scene<S>& s, int lane) {
  std::vector<double> all = s.dofs(Field::v, lane);
  for (const Field f : {Field::v_free, Field::qacc, Field::qfrc_constraint, Field::qfrc_actuator,
                        Field::xfrc_contact, Field::solver_niter, Field::solver_nls,
                        Field::solver_nsolve, Field::solver_residual, Field::flags})
    for (const double x : s.get(f, lane)) all.push_back(x);
  return all;
}

TEST(Solve, OrderOfTheTeamDoesNotMatter) {
  for (const TestModel& t : solve_models())
    for (const int solves : {1, 2, kAutoFriction}) {
      Options o = step_options(*t.model, one_solve(), 1e-6);
      o.friction_iterations = solves;
      for (const SolveCase& state : rollout(t.model, o, 3, 30, 5)) {
        const Case c = make_case(t.model, o, state);
        Scene<double> one(t.model, o, {c}), shuffled(t.model, o, {c});
        run(TeamOfOne(), one), run(ShuffledTeam(9), shuffled);
        EXPECT_EQ(outputs(one, 0), outputs(shuffled, 0)) << t.name << " " << solves;
      }
    }
}

// One state of each: in a solve four threads wait for each other thousands of times, which takes two cores seconds.
TEST(Solve, RealThreads) {
  for (const char* xml : {kPile, kArm})
    for (const Variant& variant : kVariants) {
      const ModelPtr model = load_model_from_string(xml);
      Options o = step_options(*model, options(variant), 1e-6);
      if (o.contact_model == ContactModel::lagged) o.friction_iterations = 2;
      for (const SolveCase& state : rollout(model, o, 1, 80, 6)) {
        const Case c = make_case(model, o, state);
        Scene<double> one(model, o, {c}), threads(model, o, {c});
        run(TeamOfOne(), one);
        ThreadTeam::run(4, [&](const ThreadTeam& team) { run(team, threads); });
        // sums in another order, to the tolerance of the solver
        EXPECT_LT(norm_A(c.free.A, vector(one.dofs(Field::v)) - vector(threads.dofs(Field::v))),
                  1e-5 * (1 + norm_A(c.free.A, vector(one.dofs(Field::v)))))
            << variant.name;
      }
    }
}

// Lanes finish one after the other, and the points that act in no other lane leave the list.
TEST(Solve, RealThreadsOnAPack) {
  const ModelPtr model = load_model_from_string(kPile);
  const Options o = step_options(*model, one_solve(), 1e-4);
  bool some_left = false;  // points whose lanes have finished are no longer live
  for (unsigned seed = 12; seed < 16; ++seed) {
    std::vector<Case> cases;
    for (const SolveCase& state : rollout(model, o, kLanes<TestPack>, 15, seed))
      cases.push_back(make_case(model, o, state));
    Scene<TestPack> one(model, o, cases), threads(model, o, cases);
    run(TeamOfOne(), one);
    ThreadTeam::run(4, [&](const ThreadTeam& team) { run(team, threads); });
    some_left = some_left || one.e.nlive[0] < one.e.npoint[0];
    for (int lane = 0; lane < kLanes<TestPack>; ++lane) {
      const VecX v = vector(one.dofs(Field::v, lane)), w = vector(threads.dofs(Field::v, lane));
      const MatX& A = cases[at(lane)].free.A;
      EXPECT_LT(norm_A(A, v - w), 1e-3 * (1 + norm_A(A, v))) << seed << ", " << lane;
    }
  }
  EXPECT_TRUE(some_left);
}

// A lane of a mixed pack has the bits it has among copies of itself.
TEST(Solve, LanesAreIndependent) {
  constexpr int kW = kLanes<TestPack>;
  for (const TestModel& t : solve_models())
    for (const Variant& v : with_auto()) {
      const ModelPtr model = t.for_law(v.model);
      Options o = step_options(*model, options(v), 1e-4);
      o.max_iterations = 32;
      std::vector<Case> cases;
      for (const SolveCase& state : rollout(model, o, kW, 10, 11))
        cases.push_back(make_case(model, o, state));
      // bits differ where the contacts of two lanes do: one lane flies
      cases[1].contacts.clear();
      Scene<TestPack> mixed(model, o, cases);
      run(TeamOfOne(), mixed);
      for (int lane = 0; lane < kW; lane += 3) {
        Scene<TestPack> copies(model, o, {cases[at(lane)]});
        run(TeamOfOne(), copies);
        EXPECT_EQ(outputs(mixed, lane), outputs(copies, lane)) << t.name << " " << v.name << lane;
      }
      Scene<TestPack> flying(model, o, {cases[1]});
      run(TeamOfOne(), flying);
      EXPECT_EQ(outputs(mixed, 1), outputs(flying, 1)) << t.name << " " << v.name;
      if (mixed.m().nrowdof == 0) {
        EXPECT_EQ(mixed.dofs(Field::v, 1), mixed.get(Field::v_free, 1));
        EXPECT_EQ(mixed.number(Field::solver_niter, 0, 1), 0);
      }
    }
}

// Frozen lanes keep v0 whatever is in them; a lane without finite numbers stops alone.
TEST(Solve, FrozenAndBrokenLanes) {
  const ModelPtr model = load_model_from_string(kPile);
  const Options o = step_options(*model, one_solve(), 1e-4);
  const Case c = make_case(model, o, rollout(model, o, 1, 60, 8)[0]);
  Scene<TestPack> good(model, o, {c}), bad(model, o, {c});
  bad.put(Field::active, 0, 1, 0);
  bad.put(Field::qfrc_smooth, 3, 2, std::nan(""));
  bad.put(Field::A, 0, 3, 1e300);
  run(TeamOfOne(), good), run(TeamOfOne(), bad);
  EXPECT_EQ(outputs(good, 0), outputs(bad, 0));
  EXPECT_EQ(bad.dofs(Field::v, 1), bad.get(Field::qvel, 1));
  EXPECT_EQ(bad.number(Field::solver_niter, 0, 1), 0);
  EXPECT_EQ(bad.number(Field::flags, 0, 2), 1);  // bad_state
}

constexpr const char* kPendulum = R"(<mujoco><option timestep="0.004"/><worldbody>
  <body><joint axis="0 1 0" range="-170 170" limited="true"/>
   <geom type="capsule" fromto="0 0 0 .3 0 -.4" size=".05" mass="2"/>
   <body pos=".3 0 -.4"><joint axis="0 1 0" range="-170 170" limited="true"/>
    <geom type="capsule" fromto="0 0 0 .1 0 -.4" size=".04" mass="1"/></body></body>
</worldbody></mujoco>)";

// Where nothing touches, the last step's acceleration does not matter: v_free is the solution.
TEST(Solve, InTheAirItBeginsAtTheEnd) {
  const ModelPtr model = load_model_from_string(kPendulum);
  const Options o = step_options(*model, one_solve(), 1e-6);
  const Case c = make_case(model, o, first_state(*model));
  ASSERT_TRUE(c.contacts.empty());
  Scene<double> s(model, o, {c});
  for (int i = 0; i < model->nv; ++i) s.put(Field::qacc_warmstart, i, 0, 1e3 * (i + 1));
  run(TeamOfOne(), s);
  EXPECT_EQ(s.number(Field::solver_niter, 0, 0), 0);
  EXPECT_LT(error(s, c, 0), 1e-5);
}

// The cap keeps the last iterate, which has the lowest cost, and says so.
TEST(Solve, CapOnIterations) {
  const ModelPtr model = load_model_from_string(kPile);
  Options o = step_options(*model, one_solve(), 1e-12);
  const Case c = make_case(model, o, rollout(model, o, 1, 60, 8)[0]);
  o.max_iterations = 1;
  Scene<double> s(model, o, {c});
  run(TeamOfOne(), s);
  EXPECT_EQ(s.number(Field::solver_niter, 0, 0), 1);
  EXPECT_EQ(s.number(Field::flags, 4, 0), 1);  // not_converged
}

}  // namespace
}  // namespace stiction::test
