// Whole steps: the physics text against the reference, in every shape.
#include "physics/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "data.h"
#include "physics/env.h"
#include "physics/solver/solve_models.h"
#include "physics/teams.h"

namespace stiction::test {
namespace {

using namespace physics;

struct State {
  std::vector<double> qpos, qvel, ctrl;
};

std::vector<std::string> robots() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test_robots()))
    if (entry.path().extension() == ".xml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// The robot on a floor: most of the files have none.
ModelPtr on_floor(const std::string& file, ContactModel law = ContactModel::lagged) {
  std::ifstream stream(file);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (text.find("type=\"plane\"") == std::string::npos) {
    const std::string tag = "<worldbody>";
    text.insert(
        text.find(tag) + tag.size(),
        "<geom type=\"plane\" size=\"9 9 1\" friction=\"0.8\" priority=\"9\" condim=\"3\"/>");
  }
  if (law != ContactModel::lagged) text = sliding(text);
  return load_model_from_string(text, nullptr, {}, std::filesystem::path(file).parent_path());
}

// States on the way of a falling, struggling robot, by the reference.
std::vector<State> visited_states(const ModelPtr& model, int count, const Options& options,
                                  unsigned seed) {
  const Reference reference(model, options);
  const Model& m = *model;
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  State s{m.nkey > 0 ? std::vector<double>(m.key_qpos.begin(), m.key_qpos.begin() + m.nq) : m.qpos0,
          std::vector<double>(static_cast<std::size_t>(m.nv), 0.0),
          std::vector<double>(static_cast<std::size_t>(m.nu), 0.0)};
  for (double& v : s.qvel) v = 0.3 * normal(rng);
  std::vector<State> states;
  for (int n = 0; static_cast<int>(states.size()) < count; ++n) {
    if (n % 10 == 0)
      for (double& u : s.ctrl) u = static_cast<double>(static_cast<float>(normal(rng)));
    const StepResult r = reference.step(s.qpos, s.qvel, {.ctrl = s.ctrl});
    s.qpos = r.qpos;
    for (std::size_t i = 0; i < s.qvel.size(); ++i)
      s.qvel[i] = static_cast<double>(static_cast<float>(r.qvel[i]));
    if (n % 7 == 6) states.push_back(s);
  }
  return states;
}

template <class S>
void load(Env<S>& env, int lane, const State& s) {
  env.set(Field::qpos, lane, s.qpos);
  env.set(Field::qvel, lane, s.qvel);
  env.set(Field::ctrl, lane, s.ctrl);
  env.set(Field::qacc_warmstart, lane, std::vector<double>(s.qvel.size()));
}

// One step of the text with everything poisoned that a step must not read.
template <class S, class Team>
void run_step(Env<S>& env, const Team& team) {
  env.poison(cpu::FieldKind::scratch);
  env.poison(cpu::FieldKind::output);
  env.set(Field::active, std::vector<double>{1});
  step(team, env.m(), env.e, true);
}

double a_norm(const std::vector<double>& A, const std::vector<double>& v) {
  const std::size_t n = v.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += v[i] * A[i * n + j] * v[j];
  return std::sqrt(sum);
}

// ||v - v_ref||_A / (||v_ref||_A + sqrt(mass) g dt)
double error(const Model& m, const StepResult& expected, const std::vector<double>& v, double dt) {
  std::vector<double> d(v);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] -= expected.qvel[i];
  double mass = 0;
  for (const double x : m.body_mass) mass += x;
  return a_norm(expected.A, d) / (a_norm(expected.A, expected.qvel) + std::sqrt(mass) * 9.81 * dt);
}

class Step : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Robots, Step, testing::ValuesIn(robots()), [](const auto& robot) {
  return std::filesystem::path(robot.param).stem().string();
});

// Solved to round-off, both have the one minimum of the same convex problem.
TEST_P(Step, DoubleIsTheReference) {
  for (const auto law : {ContactModel::lagged, ContactModel::similar, ContactModel::sap}) {
    const ModelPtr model = on_floor(GetParam(), law);
    Options o;
    o.contact_model = law;
    o.friction_iterations = 1;
    o.solver_tolerance = 1e-13;
    o.max_iterations = 100;
    const Reference reference(model, o);
    Env<double> env(*model, o);
    const double dt = *reference.options().timestep;
    for (const State& s : visited_states(model, 20, o, 1)) {
      load(env, 0, s);
      run_step(env, TeamOfOne());
      const StepResult r = reference.step(s.qpos, s.qvel, {.ctrl = s.ctrl});
      EXPECT_LT(error(*model, r, env.get(Field::qvel), dt), 1e-9);
      const std::vector<double> q = env.get(Field::qpos);
      for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(q[i], r.qpos[i], 1e-9 * (1 + dt));
    }
  }
}

// eps_r = 1e-4; the few steps whose answer hangs on a rounding of the state may differ.
TEST_P(Step, FloatPackIsNear) {
  const ModelPtr model = on_floor(GetParam());
  Options exact, once;
  exact.friction_iterations = once.friction_iterations = 1;
  exact.solver_tolerance = 1e-10;
  exact.max_iterations = 100;
  const Reference reference(model, exact);
  const double dt = *reference.options().timestep;
  Env<TestPack> env(*model, once);
  const std::vector<State> states = visited_states(model, 10 * kNativeLanes, once, 2);
  int far = 0;
  for (std::size_t first = 0; first < states.size(); first += kNativeLanes) {
    for (int lane = 0; lane < kNativeLanes; ++lane)
      load(env, lane, states[first + static_cast<std::size_t>(lane)]);
    run_step(env, TeamOfOne());
    for (int lane = 0; lane < kNativeLanes; ++lane) {
      const State& s = states[first + static_cast<std::size_t>(lane)];
      const StepResult r = reference.step(s.qpos, s.qvel, {.ctrl = s.ctrl});
      const double e = error(*model, r, env.get(Field::qvel, lane), dt);
      if (e > 1e-4 && env.get(Field::flags, lane)[5] == 0) ++far;
      EXPECT_LT(e, 1e-2);
    }
  }
  EXPECT_LE(far, 1);
}

// The start of the solver is no part of the problem: from a wild guess it comes to the same solution, and
// where a point carries already, so that the last acceleration is the start, it has nothing to do there.
TEST_P(Step, WarmStartDoesNotMoveTheSolution) {
  const ModelPtr model = on_floor(GetParam());
  Options o;
  o.solver_tolerance = 1e-12;
  o.max_iterations = 100;
  o.friction_iterations = 1;  // the first of several solves has another solution than the step
  const Reference reference(model, o);
  Env<double> env(*model, o);
  const double dt = *reference.options().timestep;
  std::mt19937 random(5);
  for (const State& s : visited_states(model, 5, o, 5)) {
    const StepResult r = reference.step(s.qpos, s.qvel, {.ctrl = s.ctrl});
    const auto step_from = [&](const std::vector<double>& qacc) {
      load(env, 0, s);
      env.set(Field::qacc_warmstart, 0, qacc);
      run_step(env, TeamOfOne());
      EXPECT_LT(error(*model, r, env.get(Field::qvel, 0), dt), 1e-9);
      return env.get(Field::solver_niter, 0)[0];
    };
    std::vector<double> qacc(s.qvel.size());
    for (double& a : qacc) a = 30 * std::normal_distribution<>()(random);
    step_from(qacc);
    qacc = env.get(Field::qacc_warmstart, 0);
    for (std::size_t i = 0; i < qacc.size(); ++i)
      EXPECT_NEAR(qacc[i], (r.v[i] - s.qvel[i]) / dt, 1e-7 * (1 + std::abs(qacc[i])));
    const double iterations = step_from(qacc);
    bool goes_on = false;
    for (int p = 0; p < env.e.npoint[0]; ++p) goes_on = goes_on || env.e.point_n0[p] > 0;
    // a dof whose limit acts at the solution or at v_free, not at both, starts at v_free (first_step)
    for (int i = 0; i < model->nv; ++i)
      if (env.m().coord_limited[i] != 0)
        goes_on = goes_on && limits_at(env.m(), env.e, i, r.v[static_cast<std::size_t>(i)]).hess ==
                                 limits_at(env.m(), env.e, i, env.e.v_free[i]).hess;
    if (goes_on) {
      EXPECT_LE(iterations, 1);
    }
  }
}

// A lane gives the same bits alone (copied into all lanes) and among strangers.
TEST_P(Step, LanesDoNotMeet) {
  const ModelPtr model = on_floor(GetParam());
  Env<TestPack> mixed(*model), copies(*model);
  const std::vector<State> states = visited_states(model, 3 * kNativeLanes, {}, 3);
  for (std::size_t first = 0; first < states.size(); first += kNativeLanes) {
    for (int lane = 0; lane < kNativeLanes; ++lane)
      load(mixed, lane, states[first + static_cast<std::size_t>(lane)]);
    run_step(mixed, TeamOfOne());
    for (int lane = 0; lane < kNativeLanes; ++lane) {
      for (int copy = 0; copy < kNativeLanes; ++copy)
        load(copies, copy, states[first + static_cast<std::size_t>(lane)]);
      run_step(copies, TeamOfOne());
      EXPECT_EQ(mixed.get(Field::qvel, lane), copies.get(Field::qvel, lane));
      EXPECT_EQ(mixed.get(Field::qpos, lane), copies.get(Field::qpos, lane));
      EXPECT_EQ(mixed.get(Field::solver_niter, lane), copies.get(Field::solver_niter, lane));
    }
  }
}

TEST_P(Step, OrderOfIndicesDoesNotMatter) {
  const ModelPtr model = on_floor(GetParam());
  Env<double> straight(*model), shuffled(*model);
  for (const State& s : visited_states(model, 5, {}, 4)) {
    load(straight, 0, s);
    load(shuffled, 0, s);
    run_step(straight, TeamOfOne());
    run_step(shuffled, ShuffledTeam(7));
    EXPECT_EQ(straight.get(Field::qvel), shuffled.get(Field::qvel));
    EXPECT_EQ(straight.get(Field::qpos), shuffled.get(Field::qpos));
  }
}

TEST_P(Step, FourThreadsAreOneTeam) {
  const ModelPtr model = on_floor(GetParam());
  Env<double> one(*model), four(*model);
  for (const State& s : visited_states(model, 3, {}, 5)) {
    load(one, 0, s);
    load(four, 0, s);
    run_step(one, TeamOfOne());
    four.poison(cpu::FieldKind::scratch);
    four.poison(cpu::FieldKind::output);
    four.set(Field::active, std::vector<double>{1});
    ThreadTeam::run(4, [&](const ThreadTeam& team) {
      EnvView<double> e = four.e;
      step(team, four.m(), e, true);
    });
    // sums are split over the threads: rounding only
    const std::vector<double> a = one.get(Field::qvel), b = four.get(Field::qvel);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(a[i])));
  }
}

// A lane that is NaN or frozen changes no bit of its neighbours and keeps its own state.
TEST_P(Step, NotANumberStaysInItsLane) {
  const ModelPtr model = on_floor(GetParam());
  const std::vector<State> states = visited_states(model, kNativeLanes, {}, 6);
  Env<TestPack> healthy(*model), poisoned(*model);
  for (int lane = 0; lane < kNativeLanes; ++lane) {
    load(healthy, lane, states[static_cast<std::size_t>(lane)]);
    load(poisoned, lane, states[static_cast<std::size_t>(lane)]);
  }
  poisoned.put(Field::qvel, 0, 1, std::numeric_limits<double>::quiet_NaN());
  run_step(healthy, TeamOfOne());
  run_step(poisoned, TeamOfOne());
  for (int lane = 0; lane < kNativeLanes; ++lane) {
    if (lane == 1) continue;
    EXPECT_EQ(healthy.get(Field::qvel, lane), poisoned.get(Field::qvel, lane));
    EXPECT_EQ(healthy.get(Field::qpos, lane), poisoned.get(Field::qpos, lane));
  }
  EXPECT_EQ(poisoned.get(Field::qpos, 1), states[1].qpos);
  EXPECT_EQ(poisoned.get(Field::flags, 1)[0], 1);
}

}  // namespace
}  // namespace stiction::test
