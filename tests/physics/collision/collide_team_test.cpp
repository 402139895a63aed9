// The stage in scrambled order, on threads, and with a different state in every lane; anchors and
// late contacts.
#include <gtest/gtest.h>

#include <cstring>

#include "physics/collision/collide_models.h"
#include "physics/contact/late_contact.h"
#include "physics/solver/factor.h"

namespace stiction::test {
namespace {

const std::vector<Field>& point_fields() {
  static const std::vector<Field> fields = {
      Field::point_gap, Field::point_normal, Field::point_r1,    Field::point_r2,
      Field::point_w,   Field::point_mu,     Field::point_n0,    Field::point_eps,
      Field::point_law, Field::point_d,      Field::point_shift, Field::point_anchor};
  return fields;
}

// Everything that collide() says, as numbers: points, lists, counts.
template <class S>
std::vector<double> report(const Env<S>& env, int lane) {
  const auto& e = env.e;
  std::vector<double> r = {static_cast<double>(e.npoint[0]), static_cast<double>(e.ncand[0]),
                           env.number(Field::ncon, 0, lane)};
  for (const Field f : point_fields()) {
    const int n = env.m().opt.anchored || (f != Field::point_shift && f != Field::point_anchor)
                      ? env.spec(f).columns * e.npoint[0]
                      : 0;
    for (int i = 0; i < n; ++i) r.push_back(env.number(f, i, lane));
  }
  for (int p = 0; p < e.npoint[0]; ++p) r.push_back(e.point_slot[p]);
  for (int i = 0; i < 2 * e.npoint[0]; ++i)
    r.push_back(e.point_body[i]), r.push_back(e.point_weld[i]);
  for (int b = 0; b <= env.m().nbody; ++b) r.push_back(e.body_pointadr[b]);
  for (int i = 0; i < e.body_pointadr[env.m().nbody]; ++i) r.push_back(e.body_point[i]);
  return r;
}

Options anchored() {
  Options o;
  o.stiction = Stiction::anchored;
  return o;
}

TEST(CollideTeams, OrderAndThreadsDoNotMatter) {
  for (const ModelPtr& m : {load_model_from_string(kShapes), robot_on_plane("go2")}) {
    Rng rng(3);
    double points = 0;
    for (int round = 0; round < 6; ++round) {
      const CollideState s = random_state(*m, rng, m->nbody > 12);
      const auto run = [&](const auto& f) {
        Env<double> env(*m, anchored());
        put_state(env, 0, s);
        f(env);
        return report(env, 0);
      };
      const auto one = run([](auto& env) { run_collide(physics::TeamOfOne(), env); });
      points += one[0];
      EXPECT_EQ(one, run([](auto& env) { run_collide(ShuffledTeam(5), env); }));
      EXPECT_EQ(one, run([](auto& env) {
                  ThreadTeam::run(4, [&](const ThreadTeam& team) { run_collide(team, env); });
                }));
    }
    EXPECT_GT(points, 5);
  }
}

// Every lane of a mixed pack against a pack of its copies: the same bits of every slot that acts.
void expect_as_alone(const Model& m, const Env<TestPack>& mixed,
                     const std::vector<CollideState>& states) {
  for (int lane = 0; lane < mixed.lanes(); ++lane) {
    Env<TestPack> copies(m, anchored());
    for (int k = 0; k < mixed.lanes(); ++k) put_state(copies, k, states[at(lane)]);
    run_collide(physics::TeamOfOne(), copies);
    int active = 0;
    for (int p = 0, q = 0; p < mixed.e.npoint[0]; ++p) {
      const int slot = mixed.e.point_slot[p];
      if (mixed.number(Field::cand_active, slot, lane) < 0.5) continue;
      while (q < copies.e.npoint[0] && copies.e.point_slot[q] != slot) ++q;
      ASSERT_LT(q, copies.e.npoint[0]);
      ++active;
      for (const Field f : point_fields())
        for (int k = 0; k < mixed.spec(f).columns; ++k)
          EXPECT_EQ(mixed.number(f, mixed.spec(f).columns * p + k, lane),
                    copies.number(f, mixed.spec(f).columns * q + k, lane));
    }
    EXPECT_EQ(active, copies.e.npoint[0]);
    EXPECT_EQ(mixed.number(Field::ncon, 0, lane), active);
  }
}

TEST(CollideLanes, DoNotSeeEachOther) {
  for (const ModelPtr& m : {load_model_from_string(kShapes), robot_on_plane("g1")}) {
    Rng rng(4);
    Env<TestPack> mixed(*m, anchored());
    std::vector<CollideState> states;
    for (int lane = 0; lane < mixed.lanes(); ++lane) {
      states.push_back(random_state(*m, rng, m->nbody > 12));
      put_state(mixed, lane, states.back());
    }
    run_collide(physics::TeamOfOne(), mixed);
    expect_as_alone(*m, mixed, states);
  }
}

// Ten boxes of which other ones touch in each lane: their pairs share packs, and fill several.
TEST(CollideLanes, BoxesOfFewLanesArePacked) {
  std::string bodies;
  for (int i = 0; i < 10; ++i)
    bodies += R"(<body><freejoint/><geom type="box" size=".06 .04 .05"/></body>)";
  const ModelPtr m =
      load_model_from_string("<mujoco><worldbody>" + bodies + "</worldbody></mujoco>");
  Rng rng(9);
  int gathered = 0, shared = 0, points = 0;
  for (int round = 0; round < 5; ++round) {
    Env<TestPack> mixed(*m, anchored());
    std::vector<CollideState> states;
    for (int lane = 0; lane < mixed.lanes(); ++lane) {
      CollideState s = random_state(*m, rng);
      for (int b = 0; b < 10; ++b)
        for (int k = 0; k < 3; ++k) s.qpos[at(7 * b + k)] = uniform(rng, -0.2, 0.2);
      states.push_back(s);
      put_state(mixed, lane, s);
    }
    run_collide(physics::TeamOfOne(), mixed);
    for (int pair = 0; pair < mixed.m().npair; ++pair) {
      const int near = physics::count_lanes(mixed.e.pair_near[pair] > TestPack(0.5));
      const bool few = near <= physics::kFewLanes<TestPack>;
      gathered += few ? near : 0, shared += few ? 0 : 1;
    }
    points += mixed.e.npoint[0];
    expect_as_alone(*m, mixed, states);
  }
  EXPECT_GT(gathered, 10 * physics::kLanes<TestPack>);
  EXPECT_GT(shared, 10);
  EXPECT_GT(points, 100);
}

TEST(CollideLists, NameEveryPointOfEveryBody) {
  const ModelPtr m = load_model_from_string(kShapes);
  Rng rng(5);
  Env<double> env(*m);
  put_state(env, 0, random_state(*m, rng));
  run_collide(physics::TeamOfOne(), env);
  const auto& e = env.e;
  std::vector<int> expected, found;
  int cross = 0, found_cross = 0;
  for (int b = 0; b < m->nbody; ++b)
    for (int p = 0; p < e.npoint[0]; ++p) {
      const auto bodies = physics::pair_bodies(env.m(), env.m().slot_pair[e.point_slot[p]]);
      const bool moves = env.m().body_treeid[b] >= 0;
      if (bodies.body1 == b) expected.push_back(-(p + 1));
      if (bodies.body2 == b) expected.push_back(p + 1);
      if (moves && bodies.body2 == b && env.m().body_treeid[bodies.body1] >= 0) ++cross;
    }
  EXPECT_EQ(e.body_pointadr[0], 0);
  for (int i = 0; i < e.body_pointadr[m->nbody]; ++i) found.push_back(e.body_point[i]);
  EXPECT_EQ(found, expected);
  for (int p = 0; p < e.npoint[0]; ++p) found_cross += physics::is_cross(e, p) ? 1 : 0;
  EXPECT_EQ(found_cross, cross);
  EXPECT_GT(cross, 0);
}

// A slot that acts has the same bits as without the cull, and what the narrow phase knows of closing speeds; no other acts.
// Returns whether it has another gap: its pair has its nearest points alone.
template <class S>
bool expect_same_slot(const Env<S>& env, const Env<S>& all, int slot, int lane, bool near) {
  const auto number = [&](const Env<S>& e, Field f, int i) { return e.number(f, i, lane); };
  const bool acts = number(all, Field::cand_active, slot) > 0.5;
  EXPECT_EQ(acts, near && number(env, Field::cand_active, slot) > 0.5);
  if (acts) {
    for (const Field f : {Field::cand_gap, Field::cand_normal, Field::cand_r1, Field::cand_r2})
      for (int k = 0; k < env.spec(f).columns; ++k) {
        const int i = env.spec(f).columns * slot + k;
        EXPECT_EQ(number(env, f, i), number(all, f, i));
      }
  }
  return near && number(env, Field::cand_gap, slot) != number(all, Field::cand_gap, slot);
}

// Whatever acts survives the cull, at any speed: as with all pairs. And of the others few do.
template <class S>
void check_cull(ContactModel model, double most) {
  const ModelPtr m = load_model_from_string(kShapes);
  Options o;
  o.contact_model = model;
  Rng rng(11);
  int acting = 0, near = 0, apart = 0, idle = 0;
  for (int round = 0; round < 6000 / (4 + physics::kLanes<S>); ++round) {
    Env<S> env(*m, o), all(*m, o);
    for (int lane = 0; lane < env.lanes(); ++lane) {
      CollideState s = random_state(*m, rng);
      const double faster = std::pow(10, uniform(rng, -1, 1));
      for (double& v : s.qvel) v *= faster;
      for (double& v : s.v_free) v *= faster;
      put_state(env, lane, s), put_state(all, lane, s);
    }
    run_collide(physics::TeamOfOne(), env), run_collide(physics::TeamOfOne(), all);
    all.fill(Field::pair_near, 1);
    for (int pair = 0; pair < m->npair; ++pair) {
      physics::narrow_phase<physics::Colliders::hfields>(all.m(), all.e, pair);
      physics::activate(all.m(), all.e, pair);
      for (int lane = 0; lane < env.lanes(); ++lane) {
        const bool survives = env.number(Field::pair_near, pair, lane) > 0.5;
        bool acts = false, touches = false;
        for (int k = 0; k < all.m().pair_slotnum[pair]; ++k) {
          const int slot = all.m().pair_slotadr[pair] + k;
          acts = acts || all.number(Field::cand_active, slot, lane) > 0.5;
          touches = touches || all.number(Field::cand_gap, slot, lane) <= 0;
          idle += expect_same_slot(env, all, slot, lane, survives);
        }
        ASSERT_LE(acts, survives) << round << " pair " << pair << " lane " << lane;
        acting += acts && !touches, near += survives && !touches, apart += touches ? 0 : 1;
      }
    }
  }
  std::printf("%d near and %d acting of %d that are apart; %d slots without points of their own\n",
              near, acting, apart, idle);
  EXPECT_EQ(idle > 100, model == ContactModel::lagged) << idle;
  EXPECT_GT(acting, 400);
  EXPECT_LT(near, most * acting);
}
TEST(Cull, LeavesOutNothingThatActs) {
  check_cull<double>(ContactModel::lagged, 4.2);
  check_cull<TestPack>(ContactModel::lagged, 4.2);
  check_cull<double>(ContactModel::similar, 10);
  check_cull<double>(ContactModel::sap, 10);
}

// The anchors after the step against the reference's, with any velocity at the solution.
template <class S>
void check_anchors(double tolerance) {
  const ModelPtr m = load_model_from_string(kShapes);
  Rng rng(6);
  for (int round = 0; round < 20; ++round) {
    const CollideState s = random_state(*m, rng);
    Env<S> env(*m, anchored());
    for (int lane = 0; lane < env.lanes(); ++lane) put_state(env, lane, s);
    run_collide(physics::TeamOfOne(), env);
    const int n = env.e.npoint[0];
    for (int i = 0; i < 3 * n; ++i) env.put(Field::point_vel, i, 0, uniform(rng, -0.01, 0.01));
    const auto before = env.get(Field::anchor);
    physics::advance_anchors(physics::TeamOfOne(), env.m(), env.e,
                             physics::Mask<S>(S(1.0) < S(0.0)));
    EXPECT_EQ(env.get(Field::anchor), before);
    physics::advance_anchors(physics::TeamOfOne(), env.m(), env.e,
                             physics::Mask<S>(S(0.0) < S(1.0)));

    std::vector<double> expected(at(3 * m->nslot), 0.0);
    const auto vec = [&](Field f, int p) { return row3(env.get(f), p); };
    for (int p = 0; p < n; ++p) {
      const Vec3 normal = vec(Field::point_normal, p), v = vec(Field::point_vel, p);
      const Vec3 next = ref::advance_anchor(vec(Field::point_anchor, p), v - normal.dot(v) * normal,
                                            m->timestep, env.number(Field::point_n0, p, 0),
                                            env.number(Field::point_eps, p, 0));
      set_row3(expected, env.e.point_slot[p], next);
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(env.get(Field::anchor)[i], expected[i], tolerance * 1e-4);
  }
}
TEST(Anchors, FollowTheSlipAsInTheReference) {
  check_anchors<double>(1e-12);
  check_anchors<float>(1e-5);
  check_anchors<TestPack>(1e-5);
}

TEST(Anchors, TurnWithTheBodies) {
  Rng rng(8);
  for (int round = 0; round < 200; ++round) {
    const Vec3 z(uniform(rng, -1, 1), uniform(rng, -1, 1), uniform(rng, -1, 1));
    const Vec3 n = Vec3(uniform(rng, -1, 1), uniform(rng, -1, 1), uniform(rng, -1, 1)).normalized();
    const double angle = uniform(rng, -4, 4);
    const Vec3 expected = ref::spin_anchor(z, n, angle);
    const auto found =
        physics::spin_anchor<double>({z.x(), z.y(), z.z()}, {n.x(), n.y(), n.z()}, angle);
    EXPECT_LT((Vec3(found.x, found.y, found.z) - expected).norm(), 1e-12);
  }
  const auto none = physics::spin_anchor<double>({0, 0, 0}, {0, 0, 1}, 1);
  EXPECT_EQ(none.x, 0);
  const auto normal = physics::spin_anchor<double>({0, 0, 2}, {0, 0, 1}, 0);
  EXPECT_EQ(normal.z, 0);
}

// A ball is dropped from beside its reach; the solution takes it into the floor in some lanes.
template <class S>
void check_late() {
  const ModelPtr m = load_model_from_string(R"(<mujoco><option timestep="0.01"/><worldbody>
    <geom type="plane" size="0 0 1"/>
    <body pos="0 0 .11"><freejoint/><geom type="sphere" size=".1" friction=".5"/></body>
    </worldbody></mujoco>)");
  const auto flag = static_cast<int>(std::log2(static_cast<double>(Status::late_contact)));
  for (const ContactModel model : {ContactModel::lagged, ContactModel::similar}) {
    Options o;
    o.contact_model = model;
    Env<S> env(*m, o);
    env.fill(Field::flags, 0);
    for (const Field f : {Field::qvel, Field::v_free}) {
      env.fill(f, 0);
      for (int lane = 0; lane < env.lanes(); ++lane) env.put(f, 2, lane, -0.001);
    }
    env.fill(Field::A, 1);
    env.fill(Field::v, 0);
    // inside the cull's room for gravity (8 |g| δt² = 7.8 mm), or so without gravity: not active
    env.fill(Field::gravity, 0);
    for (int lane = 0; lane < env.lanes(); ++lane) {
      env.put(Field::qpos, 2, lane, lane == 2 ? 0.09 : 0.11);
      env.put(Field::v, 2, lane, lane % 2 == 0 ? -1.5 : -0.5);
      if (model == ContactModel::similar && lane == 1) env.put(Field::v, 0, lane, 2);
    }
    physics::EnvView<S>& e = env.e;
    run_collide(physics::TeamOfOne(), env);
    if (e.ncand[0] == 0) {
      // no lane near: put the candidate in by hand, as a pair that survived for another reason
      e.ncand[0] = 1, e.cand_slot[0] = 0;
      physics::narrow_phase<physics::Colliders::meshes>(env.m(), e, 0);
      physics::activate(env.m(), e, 0);
    }
    env.fill(Field::pair_near, 1);
    physics::late_contacts(physics::TeamOfOne(), env.m(), e);
    for (int lane = 0; lane < env.lanes(); ++lane) {
      const bool slides = model == ContactModel::similar && lane == 1;
      const bool late = lane != 2 && (lane % 2 == 0 || slides);
      EXPECT_EQ(env.number(Field::flags, flag, lane), late ? 1 : 0) << lane;
    }
    // a pair that is near in the other lanes only
    env.fill(Field::flags, 0);
    env.put(Field::pair_near, 0, 0, 0);
    physics::late_contacts(physics::TeamOfOne(), env.m(), e);
    EXPECT_EQ(env.number(Field::flags, flag, 0), 0);
  }
}
TEST(LateContact, IsRaisedWhereALeftOutPointCloses) {
  check_late<double>();
  check_late<TestPack>();
}

}  // namespace
}  // namespace stiction::test
