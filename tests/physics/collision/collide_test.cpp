// The stage against the reference: which points, their geometry, and the constants of their laws.
#include "physics/contact/collide.h"

#include <gtest/gtest.h>

#include <map>

#include "physics/collision/collide_models.h"

namespace stiction::test {
namespace {

struct Expected {
  ref::ContactPoint point;
  ref::ContactLaw law;
};
// What the reference makes of every candidate, by slot; `near` are decided by less than round-off.
struct Oracle {
  std::map<int, Expected> active;
  std::vector<int> near;
};

Oracle oracle(const Model& m, const Options& o, const CollideState& s, double roundoff) {
  const double dt = *o.timestep;
  const ref::Kinematics kin = ref::kinematics(m, s.qpos, {}, {});
  const auto bodies = ref::motion(m, kin, s.qvel, {});
  MatX A(m.nv, m.nv);
  for (int i = 0, n = 0; i < m.nv; ++i)
    for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = s.A[at(n++)];
  const ref::DelassusScale delassus(m, kin, A);
  const Eigen::Map<const VecX> v0(s.qvel.data(), m.nv), v_free(s.v_free.data(), m.nv);

  const bool deepest = o.contact_pairs == ContactPairs::penetrating_deepest;
  auto points = ref::candidate_points(m, o, kin);
  if (deepest) points = ref::penetrating_deepest(points);
  Oracle result;
  for (ref::ContactPoint& p : points) {
    const Mat3X J = ref::contact_jacobian(m, kin, p);
    const ref::Reach reach = ref::reach(m, o, dt, p);
    const auto acts = [&](double gap) {
      return deepest || ref::may_act(m, dt, reach, gap, {J * v0, J * v_free});
    };
    const double room = roundoff * (std::abs(p.gap) + (J.cwiseAbs() * v0.cwiseAbs()).sum() * dt);
    if (acts(p.gap - room) != acts(p.gap + room)) result.near.push_back(p.slot);
    if (!acts(p.gap)) continue;
    if (o.stiction == Stiction::anchored) {
      const Vec3 n = p.frame.col(2);
      const Vec3 spin = bodies[at(m.geom_bodyid[at(p.geom1)])].omega +
                        bodies[at(m.geom_bodyid[at(p.geom2)])].omega;
      p.anchor = ref::spin_anchor(row3(s.anchor, p.slot), n, 0.5 * dt * n.dot(spin));
    }
    p.w = delassus(J);
    if (p.w < 1e-12) continue;
    const ref::ContactLaw law = ref::contact_law(m, o, dt, J * v0, p);
    result.active[p.slot] = {p, law};
  }
  return result;
}

// A search ends where s(n) is within 1e-13 of the shapes' extent: of a shape whose radius is a tenth of it the normal
// errs by sqrt(2 · 1e-13 · 10), to either side in either text, and what follows from the normal by as much; the gap of a
// point beside the nearest one by that angle times the way between them, at most the smaller shape, its impulse by δt k
// times that.
constexpr double kSearched = 3e-6;
bool searched(const Model& m, int pair) {
  return physics::colliders_of(m.geom_type[at(m.pair_geom1[at(pair)])],
                               m.geom_type[at(m.pair_geom2[at(pair)])]) >=
         physics::Colliders::convex;
}

// Of the points of a pair that act.
double least_gap(const Oracle& expected, int pair) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [slot, x] : expected.active)
    if (x.point.pair == pair) least = std::min(least, x.point.gap);
  return least;
}

template <class S>
struct Checker {
  Env<S>& env;
  const Model& m;
  const Options& o;
  double tolerance;
  double worst = 0;
  int points = 0;
  double bound = tolerance;  // of the point that is looked at

  void near(double found, double expected, double scale, const char* what) {
    const double error = std::abs(found - expected) / (std::abs(expected) + scale + 1e-300);
    worst = std::max(worst, error);
    EXPECT_LT(error, bound) << what << ": " << found << " for " << expected;
  }
  void near(Field f, int p, int lane, const Vec3& expected, double scale, const char* what) {
    for (int k = 0; k < 3; ++k) near(env.number(f, 3 * p + k, lane), expected[k], scale, what);
  }

  void law(int p, int lane, const Expected& x, double n0_scale, double reach) {
    const ref::ContactPoint& c = x.point;
    const double dt = *o.timestep, k = c.stiffness, d = c.dissipation;
    const auto at_ = [&](int i) { return env.number(Field::point_law, 4 * p + i, lane); };
    if (o.contact_model == ContactModel::sap) {
      near(at_(0), x.law.v_hat, reach / dt, "v_hat");
      near(at_(1), 1 / x.law.R_n, 0, "1/R_n");
      near(at_(2), 1 / x.law.R_t, reach > 0 ? 1 / x.law.R_t : 0, "1/R_t");  // of w
      return;
    }
    for (const double v : {-1.0, 0.0, 0.5 * at_(0), at_(0) + 1}) {
      const double u = std::max(0.0, at_(0) - v), a = at_(1), F = at_(2), D = at_(3);
      const ref::Scalar n = ref::evaluate(x.law.normal, v);
      const double scale = dt * k * (std::abs(c.gap) + reach + dt * std::abs(v)) *
                           (1 + d * (std::abs(v) + std::abs(at_(0))));
      near(dt * (F + a * u) * (D + d * u), n.impulse, scale, "impulse");
    }
    near(env.number(Field::point_n0, p, lane), x.law.n0, n0_scale, "n0");
    near(env.number(Field::point_eps, p, lane), x.law.eps,
         o.regularization * c.w * x.law.mu * n0_scale, "eps");
  }

  void lane(int lane, const CollideState& s) {
    const Oracle expected = oracle(m, o, s, tolerance);
    const physics::EnvView<S>& e = env.e;
    double speed = 0;
    for (const double v : s.qvel) speed += std::abs(v);
    std::size_t found = 0;
    int skipped = 0;
    for (int p = 0; p < e.npoint[0]; ++p) {
      const int slot = e.point_slot[p];
      const bool active = env.number(Field::cand_active, slot, lane) > 0.5;
      const auto it = expected.active.find(slot);
      if (it == expected.active.end() || !active) {
        const bool unsure = std::count(expected.near.begin(), expected.near.end(), slot) > 0;
        EXPECT_TRUE(unsure || active == (it != expected.active.end())) << "slot " << slot;
        if (unsure) ++skipped;
        if (!active) {
          EXPECT_EQ(env.number(Field::point_mu, p, lane), 0);
          EXPECT_EQ(env.number(Field::point_n0, p, lane), 0);
          EXPECT_EQ(env.number(Field::point_law, 4 * p + 1, lane), 0);
          EXPECT_EQ(env.number(Field::point_law, 4 * p + 2, lane), 0);
          EXPECT_GT(env.number(Field::point_eps, p, lane), 0);
        }
        continue;
      }
      ++found, ++points;
      const ref::ContactPoint& c = it->second.point;
      const int g1 = m.pair_geom1[at(c.pair)], g2 = m.pair_geom2[at(c.pair)];
      SCOPED_TRACE("geoms " + std::to_string(g1) + " and " + std::to_string(g2) + ", slot " +
                   std::to_string(slot));
      const bool search = searched(m, c.pair);
      // where a rim just touches an edge the chord between them, and so a depth, is sqrt(2 r · 1e-11) long or 0; the
      // deepest point is not of such a chord
      const bool rim =
          m.geom_type[at(g1)] == GeomType::cylinder || m.geom_type[at(g2)] == GeomType::cylinder;
      const double chord = rim && c.gap > least_gap(expected, c.pair) ? 1 : 0;
      const double reach =
          search ? std::min(m.geom_rbound[at(g1)], m.geom_rbound[at(g2)]) + chord : 0;
      bound = search ? std::max(tolerance, kSearched) : tolerance;
      EXPECT_EQ(e.point_body[2 * p], m.geom_bodyid[at(g1)]);
      EXPECT_EQ(e.point_body[2 * p + 1], m.geom_bodyid[at(g2)]);
      near(env.number(Field::point_gap, p, lane), c.gap, 1e-5 + reach, "gap");
      near(Field::point_normal, p, lane, c.frame.col(2), 1, "normal");
      // products of two arms, either of which errs
      near(env.number(Field::point_w, p, lane), c.w, search ? c.w : 0, "w");
      near(env.number(Field::point_mu, p, lane), it->second.law.mu, 0, "mu");
      // v_n0 is a difference of velocities about O: lever arms of a few metres
      const double push = *o.timestep * c.stiffness * (std::max(0.0, -c.gap) + reach);
      law(p, lane, it->second, push * (1 + c.dissipation * 4 * speed), reach);
      if (o.stiction == Stiction::anchored) {
        const double time = ref::kAnchorTime * *o.timestep;
        near(Field::point_anchor, p, lane, it->second.point.anchor, 2e-4, "anchor");
        near(Field::point_shift, p, lane, it->second.point.anchor / time, 2e-4 / time, "shift");
      }
    }
    EXPECT_GE(found + expected.near.size(), expected.active.size()) << "points are missing";
    if (expected.near.empty()) {
      EXPECT_EQ(env.number(Field::ncon, 0, lane), static_cast<double>(expected.active.size()));
    }
  }
};

template <class S>
int check(const Model& m, const Options& options, int rounds, double tolerance, double* worst) {
  Rng rng(9);
  const Options o = resolved<S>(m, options);
  int points = 0;
  for (int round = 0; round < rounds; ++round) {
    Env<S> env(m, o);
    std::vector<CollideState> states;
    for (int lane = 0; lane < env.lanes(); ++lane) {
      states.push_back(random_state(m, rng, m.name != "shapes"));
      put_state(env, lane, states.back());
    }
    run_collide(physics::TeamOfOne(), env);
    Checker<S> checker{env, m, o, tolerance};
    for (int lane = 0; lane < env.lanes(); ++lane) checker.lane(lane, states[at(lane)]);
    points += checker.points;
    *worst = std::max(*worst, checker.worst);
  }
  return points;
}

// Float: a handful of roundings of 6e-8, relative to the terms that make a number. w sums up to 30
// products of squared lever arms.
constexpr double kDouble = 1e-10, kFloat = 1e-5;

TEST(Collide, FindsThePointsOfTheReferenceOnRobots) {
  for (const std::string& name : robots()) {
    const ModelPtr m = robot_on_plane(name);
    double worst = 0, worst_float = 0;
    const int points = check<double>(*m, {}, 20, kDouble, &worst);
    EXPECT_GT(points, name == "panda" ? -1 : 15) << name;  // bolted down clear of the floor
    check<float>(*m, {}, 5, kFloat, &worst_float);
    check<TestPack>(*m, {}, 1, kFloat, &worst_float);
    std::printf("%s: %d points, deviation %.1e, float %.1e\n", name.c_str(), points, worst,
                worst_float);
  }
}

TEST(Collide, FindsThePointsOfTheReferenceForEveryShapeAndOption) {
  const ModelPtr m = load_model_from_string(kShapes);
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar, ContactModel::sap})
    for (const bool deepest : {false, true})
      for (const bool harmonic : {false, true})
        for (const bool anchored : {false, true}) {
          if (anchored && model == ContactModel::sap) continue;
          Options o;
          o.contact_model = model;
          if (deepest) o.contact_pairs = ContactPairs::penetrating_deepest;
          if (harmonic) o.friction_combination = FrictionCombination::harmonic;
          if (anchored) o.stiction = Stiction::anchored;
          double worst = 0, worst_float = 0;
          const int points = check<double>(*m, o, 40, kDouble, &worst);
          EXPECT_GT(points, 100);
          check<float>(*m, o, 10, kFloat, &worst_float);
          check<TestPack>(*m, o, 2, kFloat, &worst_float);
          std::printf("model %d: %d points, deviation %.1e, float %.1e\n", static_cast<int>(model),
                      points, worst, worst_float);
        }
}

}  // namespace
}  // namespace stiction::test
