// Sensors against the reference engine, from fields filled with the reference's kinematics, contacts
// and actuators.
#include "physics/sensor/sensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "data.h"
#include "physics/contact/points.h"
#include "physics/env.h"
#include "physics/sensor/sensor_zoo.h"
#include "physics/teams.h"
#include "reference/actuation/forces.h"
#include "reference/actuation/servos.h"
#include "reference/sensor/sensors.h"

namespace stiction::test {
namespace {

using physics::kLanes;
using Numbers = std::vector<double>;

// A state, its inputs and the reference's step from it.
struct Sample {
  Numbers qpos, qvel, ctrl, xfrc;
  double time = 0;
  StepResult result;
  reference::StepInputs inputs() const {
    return {qpos, qvel, ctrl, {}, xfrc, {}, {}, {}, {}, {}, {}, time};
  }
};

Sample sample(const Reference& ref, std::mt19937& rng) {
  const Model& m = ref.model();
  std::normal_distribution<double> normal;
  const auto random = [&](int n, double scale) {
    Numbers x(at(n));
    for (double& a : x) a = scale * normal(rng);
    return x;
  };
  Sample s;
  const Numbers away = random(m.nv, 0.3);
  const VecX q =
      reference::integrate_position(m, m.qpos0, Eigen::Map<const VecX>(away.data(), m.nv), 1);
  s.qpos.assign(q.data(), q.data() + q.size());
  s.qvel = random(m.nv, 1), s.ctrl = random(m.nu, 3), s.xfrc = random(6 * m.nbody, 2);
  s.time = std::abs(normal(rng));
  s.result = ref.step(s.qpos, s.qvel, {.ctrl = s.ctrl, .xfrc_applied = s.xfrc, .time = s.time});
  EXPECT_FALSE(any(s.result.status, kFrozen));
  return s;
}

Numbers numbers(const VecX& v) {
  return {v.data(), v.data() + v.size()};
}

template <class S>
class Filled : public Env<S> {
 public:
  explicit Filled(const Reference& ref) : Env<S>(ref.model(), ref.options()), ref_(ref) {}

  // The interval's fields; `samples` holds one sample per lane.
  void fill_interval(const std::vector<Sample>& samples) {
    for (int lane = 0; lane < kLanes<S>; ++lane) fill_lane(lane, samples[at(lane)]);
    fill_points(samples);
  }
  // The fields of the state after the step.
  void fill_state(const std::vector<Sample>& samples) {
    for (int lane = 0; lane < kLanes<S>; ++lane) {
      const Sample& s = samples[at(lane)];
      fill_kinematics(lane, s.result.qpos, s.result.qvel);
      this->set(Field::qpos, lane, s.result.qpos);
      this->set(Field::qvel, lane, s.result.qvel);
      this->set(Field::time, lane, Numbers{s.time + this->m().opt.timestep});
    }
    // dead by now
    this->poison(Field::qacc), this->poison(Field::cdof), this->poison(Field::cvel0);
    this->poison(Field::v), this->poison(Field::act_length), this->poison(Field::xoff);
  }

 private:
  const Model& model() const { return ref_.model(); }
  reference::Kinematics kinematics(const Numbers& qpos) const {
    return reference::kinematics(model(), qpos, {}, {});
  }
  // Origin of the tree of body b.
  Vec3 origin(const reference::Kinematics& kin, int b) const {
    return kin.xpos[at(this->m().tree_origin[this->m().body_treeid[b]])];
  }
  void put3(Field f, int row, int lane, const Vec3& x) {
    for (int k = 0; k < 3; ++k) this->put(f, 3 * row + k, lane, x[k]);
  }

  void fill_kinematics(int lane, const Numbers& qpos, const Numbers& qvel) {
    const ForwardResult f = ref_.forward(qpos, qvel);
    this->set(Field::xpos, lane, f.xpos);
    this->set(Field::xquat, lane, f.xquat);
    this->set(Field::xvel, lane, f.xvel);
    for (int b = 0; b < model().nbody; ++b)
      for (int k = 0; k < 3; ++k)
        put3(Field::xmat, 3 * b + k, lane, kinematics(qpos).xmat[at(b)].col(k));
    fill_tendons(lane, qpos, qvel);
  }

  void fill_tendons(int lane, const Numbers& qpos, const Numbers& qvel) {
    const Model& m = model();
    const auto all = reference::tendons(m, kinematics(qpos), qpos);
    for (int t = 0; t < m.ntendon; ++t) {
      const auto& [length, J] = all[at(t)];
      this->put(Field::ten_length, t, lane, length);
      this->put(Field::ten_velocity, t, lane, J.dot(Eigen::Map<const VecX>(qvel.data(), m.nv)));
      const int* const adr = this->m().coord_momentadr + m.nv + m.nu + t;
      for (int x = adr[0]; x < adr[1]; ++x)
        this->put(Field::moment, x, lane, J[this->m().moment_dof[x]]);
    }
  }

  void fill_lane(int lane, const Sample& s) {
    const Model& m = model();
    this->set(Field::ctrl, lane, s.ctrl);
    this->set(Field::xfrc_applied, lane, s.xfrc);
    this->set(Field::xfrc_contact, lane, s.result.xfrc_contact);
    this->set(Field::v, lane, s.result.qvel);
    for (int i = 0; i < m.nv; ++i)
      this->put(Field::qacc, i, lane,
                (s.result.qvel[at(i)] - s.qvel[at(i)]) / this->m().opt.timestep);
    fill_kinematics(lane, s.qpos, s.qvel);
    this->poison(Field::xvel);

    // mocap bodies stand
    this->set(Field::mocap_twist, lane,
              Numbers(at(static_cast<int>(this->spec(Field::mocap_twist).size()))));

    // motion axes, velocities and accelerations about O
    const reference::Kinematics kin = kinematics(s.qpos);
    const std::vector<reference::Motion> motion = reference::motion(m, kin, s.qvel, {});
    for (int i = 0; i < m.nv; ++i) {
      const Vec3 axis = kin.dof_axis[at(i)];
      const Vec3 arm = origin(kin, m.dof_bodyid[at(i)]) - kin.dof_anchor[at(i)];
      const bool turns = kin.dof_rotates[at(i)];
      put3(Field::cdof, 2 * i, lane, turns ? axis : Vec3(Vec3::Zero()));
      put3(Field::cdof, 2 * i + 1, lane, turns ? Vec3(axis.cross(arm)) : axis);
    }
    for (int b = 0; b < m.nbody; ++b) {
      if (this->m().body_treeid[b] < 0) continue;
      const reference::Motion& a = motion[at(b)];
      const Vec3 arm = origin(kin, b) - kin.xpos[at(b)];
      put3(Field::cvel0, 2 * b, lane, a.omega);
      put3(Field::cvel0, 2 * b + 1, lane, a.velocity + a.omega.cross(arm));
      put3(Field::cacc, 2 * b, lane, a.alpha);
      put3(Field::cacc, 2 * b + 1, lane,
           a.acceleration + a.alpha.cross(arm) - a.omega.cross(a.velocity));
    }
    fill_actuators(lane, s, kin);
  }

  void fill_actuators(int lane, const Sample& s, const reference::Kinematics& kin) {
    const Model& m = model();
    const double dt = this->m().opt.timestep;
    const Eigen::Map<const RowMatX> A(s.result.A.data(), m.nv, m.nv);
    const Eigen::Map<const VecX> v(s.result.qvel.data(), m.nv);
    const auto strings = reference::tendons(m, kin, s.qpos);
    const auto all = reference::actuation(m, kin, strings, s.qpos, s.qvel, s.ctrl, {});
    VecX force(m.nu), qfrc = VecX::Zero(m.nv);
    for (int a = 0; a < m.nu; ++a) {
      put3(Field::act_law, a, lane, all[at(a)].law);
      this->put(Field::act_length, a, lane, all[at(a)].length);
      this->put(Field::act_velocity, a, lane, all[at(a)].velocity);
      force[a] = reference::actuator_force(m, a, all[at(a)]);
    }
    this->set(Field::row_law, lane, Numbers(4 * at(this->m().nrow)));
    const reference::DelassusScale delassus(m, kin, A);
    for (const auto& [a, law] : reference::servo_laws(m, dt, s.inputs(), delassus, kin, strings)) {
      const int row = this->m().coord_rowadr[m.nv + a];
      const double constants[] = {law.force0 / law.kappa, dt * law.kappa, dt * law.lower,
                                  dt * law.upper};
      for (int k = 0; k < 4; ++k) this->put(Field::row_law, 4 * row + k, lane, constants[k]);
      force[a] =
          std::clamp(law.force0 - law.kappa * all[at(a)].moment.dot(v), law.lower, law.upper);
    }
    for (int a = 0; a < m.nu; ++a) qfrc += force[a] * all[at(a)].moment;
    reference::clamp_joint_actuation(m, qfrc);
    this->set(Field::qfrc_actuator, lane, numbers(qfrc));
  }

  // Points active in any lane; the others of a point have no impulse. Positions relative to a body
  // that can't move stay NaN.
  void fill_points(const std::vector<Sample>& samples) {
    const Model& m = model();
    std::set<int> slots;
    for (int lane = 0; lane < kLanes<S>; ++lane)
      for (const Contact& c : samples[at(lane)].result.contacts) slots.insert(c.slot);
    int point = 0;
    std::vector<std::vector<int>> of_body(at(m.nbody));
    for (const int slot : slots) {
      const int pair = this->m().slot_pair[slot];
      const int b1 = m.geom_bodyid[at(m.pair_geom1[at(pair)])];
      const int b2 = m.geom_bodyid[at(m.pair_geom2[at(pair)])];
      physics::place_point(this->m(), this->e, point, slot);
      of_body[at(b1)].push_back(-(point + 1));
      of_body[at(b2)].push_back(point + 1);
      for (int lane = 0; lane < kLanes<S>; ++lane) {
        const reference::Kinematics kin = kinematics(samples[at(lane)].qpos);
        Contact c;
        c.normal = {0.6, 0, 0.8};
        for (const Contact& other : samples[at(lane)].result.contacts)
          if (other.slot == slot) c = other;
        put3(Field::point_normal, point, lane, row3(c.normal, 0));
        put3(Field::point_impulse, point, lane, row3(c.impulse, 0));
        const Vec3 pos = row3(c.pos, 0);
        if (this->m().body_treeid[b1] >= 0)
          put3(Field::point_r1, point, lane, pos - origin(kin, b1));
        if (this->m().body_treeid[b2] >= 0)
          put3(Field::point_r2, point, lane, pos - origin(kin, b2));
      }
      ++point;
    }
    int n = 0;
    for (int b = 0; b < m.nbody; ++b) {
      this->e.body_pointadr[b] = n;
      for (const int entry : of_body[at(b)]) this->e.body_point[n++] = entry;
    }
    this->e.body_pointadr[m.nbody] = n;
    this->e.npoint[0] = point;
  }

  const Reference& ref_;
};

template <class S, class Team>
void run(const Team& team, Filled<S>& env, const std::vector<Sample>& samples) {
  env.fill_interval(samples);
  physics::interval_sensors(team, env.m(), env.e);
  env.fill_state(samples);
  physics::state_sensors(team, env.m(), env.e);
}

std::vector<Sample> samples(const Reference& ref, int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<Sample> result;
  for (int i = 0; i < n; ++i) result.push_back(sample(ref, rng));
  return result;
}

// Share of the tolerance that the worst reading takes. Readings of a state are of the size of their
// terms, about 1; those of the interval are sums of terms as large as the accelerations and contact
// forces (masses of kilograms, levers of less than a metre).
double worst_share(const Model& m, const Numbers& ours, const Sample& s, double tolerance) {
  const Numbers& theirs = s.result.sensordata;
  double interval = 1, worst = 0;
  for (int i = 0; i < m.nv; ++i)
    interval = std::max(interval, std::abs(s.result.qvel[at(i)] - s.qvel[at(i)]) / m.timestep);
  for (const double x : s.result.xfrc_contact) interval = std::max(interval, std::abs(x));
  for (int i = 0; i < m.nsensor; ++i) {
    double scale = of_interval(m.sensor_type[at(i)]) ? interval : 1;
    for (int k = 0; k < m.sensor_dim[at(i)]; ++k)
      scale = std::max(scale, std::abs(theirs[at(m.sensor_adr[at(i)] + k)]));
    for (int k = 0; k < m.sensor_dim[at(i)]; ++k) {
      const std::size_t j = at(m.sensor_adr[at(i)] + k);
      const bool count =
          m.sensor_type[at(i)] == SensorType::contact && k == 0 && m.sensor_dim[at(i)] != 3;
      const double share = std::abs(ours[j] - theirs[j]) / (tolerance * (count ? 1 : scale));
      EXPECT_LE(share, 1) << m.sensor_names[at(i)] << " of type "
                          << static_cast<int>(m.sensor_type[at(i)]) << " [" << k << "]: " << ours[j]
                          << ", reference " << theirs[j];
      worst = std::max(worst, share);
    }
  }
  return worst;
}

std::vector<ModelPtr> models() {
  std::vector<ModelPtr> result{load_model_from_string(kSensorZoo)};
  const std::filesystem::path folder = test_robots();
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".xml") continue;
    const ModelPtr m = load_model(file.path().string());
    if (m->nsensor > 0) result.push_back(m);
  }
  EXPECT_EQ(result.size(), 7u);
  return result;
}

template <class S>
void compare_with_reference(double tolerance) {
  double worst = 0;
  for (const ModelPtr& m : models()) {
    const Reference ref(m);
    for (unsigned seed = 0; seed < 10; ++seed) {
      const std::vector<Sample> s = samples(ref, kLanes<S>, seed);
      Filled<S> env(ref);
      run(physics::TeamOfOne(), env, s);
      for (int lane = 0; lane < kLanes<S>; ++lane)
        worst = std::max(worst,
                         worst_share(*m, env.get(Field::sensordata, lane), s[at(lane)], tolerance));
    }
  }
  std::printf("worst share of %g: %.2g\n", tolerance, worst);
}

// The fields come from the reference; what is left are the roundings of two orders of the sums.
TEST(Sensors, DoubleEqualsReference) {
  compare_with_reference<double>(1e-10);
}
// Up to 40 bodies of four products each, rounded to 2^-24: 160 * 6e-8 = 1e-5.
TEST(Sensors, FloatEqualsReference) {
  compare_with_reference<float>(1e-5);
}
TEST(Sensors, PackEqualsReference) {
  compare_with_reference<TestPack>(1e-5);
}

TEST(Sensors, TheZooTouchesAndHoldsEveryType) {
  const ModelPtr m = load_model_from_string(kSensorZoo);
  EXPECT_EQ(std::set<SensorType>(m->sensor_type.begin(), m->sensor_type.end()).size(), 37u);
  const Reference ref(m);
  std::vector<double> largest(at(m->nsensordata), 0);
  for (const Sample& s : samples(ref, 60, 0))
    for (std::size_t j = 0; j < largest.size(); ++j)
      largest[j] = std::max(largest[j], std::abs(s.result.sensordata[j]));
  for (int i = 0; i < m->nsensor; ++i)
    EXPECT_GT(*std::max_element(&largest[at(m->sensor_adr[at(i)])],
                                &largest[at(m->sensor_adr[at(i)])] + m->sensor_dim[at(i)]),
              0)
        << m->sensor_names[at(i)] << " is never anything but zero";
}

// A hinge, a slide with a margin and a ball, within their limits and beyond.
TEST(Sensors, LimitsOfJoints) {
  const ModelPtr m = load_model_from_string(R"(<mujoco><compiler angle="radian"/>
    <option><flag contact="disable"/></option><worldbody>
    <body><joint name="h" axis="0 1 0" range="-0.2 0.3"/><geom size="0.1" pos="0.3 0 0"/>
      <body pos="0.5 0 0"><joint name="s" type="slide" range="-0.2 0.3" margin="0.02"/><geom size="0.1"/>
        <body pos="0.4 0 0"><joint name="b" type="ball" range="0 0.5" margin="0.05"/>
          <geom size="0.1" pos="0.1 0.2 0"/></body></body></body></worldbody>
    <sensor><jointlimitpos joint="h"/><jointlimitvel joint="h"/><jointlimitpos joint="s"/>
      <jointlimitvel joint="s"/><jointlimitpos joint="b"/><jointlimitvel joint="b"/></sensor></mujoco>)");
  const Reference ref(m);
  std::vector<int> beyond(at(m->nsensordata), 0);
  for (unsigned seed = 0; seed < 30; ++seed) {
    const std::vector<Sample> s = samples(ref, kLanes<TestPack>, seed);
    Filled<TestPack> env(ref);
    env.fill_state(s);
    physics::state_sensors(physics::TeamOfOne(), env.m(), env.e);
    for (int lane = 0; lane < kLanes<TestPack>; ++lane) {
      worst_share(*m, env.get(Field::sensordata, lane), s[at(lane)], 1e-5);
      for (std::size_t j = 0; j < beyond.size(); ++j)
        beyond[j] += s[at(lane)].result.sensordata[j] != 0;
    }
  }
  for (const int n : beyond) {
    EXPECT_GT(n, 10);
    EXPECT_LT(n, 30 * kLanes<TestPack> - 10);
  }
}

TEST(Sensors, LanesAreIndependent) {
  const Reference ref(load_model_from_string(kSensorZoo));
  const std::vector<Sample> mixed = samples(ref, kLanes<TestPack>, 3);
  Filled<TestPack> env(ref);
  run(physics::TeamOfOne(), env, mixed);
  for (int lane = 0; lane < kLanes<TestPack>; ++lane) {
    Filled<TestPack> copies(ref);
    run(physics::TeamOfOne(), copies, std::vector<Sample>(mixed.size(), mixed[at(lane)]));
    EXPECT_EQ(env.get(Field::sensordata, lane), copies.get(Field::sensordata, lane));
  }
}

TEST(Sensors, OrderOfIndicesDoesNotMatter) {
  const Reference ref(load_model_from_string(kSensorZoo));
  const std::vector<Sample> s = samples(ref, 1, 4);
  Filled<double> one(ref), shuffled(ref), threads(ref);
  run(physics::TeamOfOne(), one, s);
  run(ShuffledTeam(7), shuffled, s);
  EXPECT_EQ(one.get(Field::sensordata), shuffled.get(Field::sensordata));

  threads.fill_interval(s);
  ThreadTeam::run(
      4, [&](const ThreadTeam& team) { physics::interval_sensors(team, threads.m(), threads.e); });
  threads.fill_state(s);
  ThreadTeam::run(
      4, [&](const ThreadTeam& team) { physics::state_sensors(team, threads.m(), threads.e); });
  EXPECT_EQ(one.get(Field::sensordata), threads.get(Field::sensordata));
}

TEST(Sensors, FrozenAndBrokenLanesKeepTheirReadings) {
  const ModelPtr m = load_model_from_string(kSensorZoo);
  const Reference ref(m);
  std::vector<Sample> s = samples(ref, kLanes<TestPack>, 5);
  Filled<TestPack> env(ref);
  env.fill_interval(s);
  env.fill(Field::sensordata, 7);
  env.put(Field::active, 0, 1, 0);
  env.put(Field::qacc, m->jnt_dofadr[at(m->joint("root"))], 2, std::nan(""));
  physics::interval_sensors(physics::TeamOfOne(), env.m(), env.e);
  const auto reading = [&](const char* name, int lane) {
    return env.get(Field::sensordata, lane)[at(m->sensor_adr[at(m->sensor(name))])];
  };
  EXPECT_NE(reading("accelerometer", 0), 7);
  EXPECT_EQ(reading("accelerometer", 1), 7);
  EXPECT_EQ(reading("accelerometer", 2), 7);
  EXPECT_NE(reading("touch sphere", 2), 7);
}

TEST(Airtime, GrowsUntilTheBodyTouches) {
  const ModelPtr m = load_model_from_string(R"(<mujoco><worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body pos="0 0 0.0999"><freejoint/><geom size="0.1"/></body>
    <body pos="1 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>)");
  const Reference ref(m);
  Sample touching;
  touching.qpos = m->qpos0, touching.qvel.assign(12, 0.0), touching.xfrc.assign(18, 0.0);
  Sample flying = touching;
  flying.qpos[2] = 2;
  for (Sample* s : {&touching, &flying}) s->result = ref.step(s->qpos, s->qvel);
  ASSERT_EQ(touching.result.contacts.size(), 1u);

  Filled<TestPack> env(ref);
  std::vector<Sample> lanes(at(kLanes<TestPack>), touching);
  lanes[1] = flying;
  env.fill_interval(lanes);
  env.fill(Field::body_airtime, 0.5);
  auto moves = TestPack(0.0) == TestPack(0.0);
  const auto airtime = [&](int body, int lane) {
    return env.get(Field::body_airtime, lane)[at(body)];
  };
  physics::advance_airtime(physics::TeamOfOne(), env.m(), env.e, moves);
  const float later = 0.5f + static_cast<float>(m->timestep);
  EXPECT_EQ(airtime(1, 0), 0);
  EXPECT_EQ(airtime(0, 0), 0);
  EXPECT_EQ(airtime(2, 0), later);
  EXPECT_EQ(airtime(1, 1), later);
  physics::advance_airtime(physics::TeamOfOne(), env.m(), env.e, !moves);
  EXPECT_EQ(airtime(1, 1), later);
}

// Rays against the same shapes by search along the ray; skips those that graze within round-off.
TEST(SensorZone, RaysMeetTheShapes) {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vec3(normal(rng), normal(rng), normal(rng)); };
  const auto physics_vector = [](const Vec3& v) {
    return physics::Vec3<double>{v.x(), v.y(), v.z()};
  };
  for (const GeomType type : {GeomType::sphere, GeomType::capsule, GeomType::ellipsoid,
                              GeomType::cylinder, GeomType::box}) {
    int met = 0, missed = 0;
    for (int i = 0; i < 4000; ++i) {
      const Vec3 size = vector().cwiseAbs() + Vec3::Constant(0.1), p = 2 * vector();
      Vec3 d = vector();
      if (i % 3 == 0) d[i % 9 / 3] = 0;
      if (i % 7 == 0) d.setZero(), d[i % 21 / 7] = i % 2 == 0 ? 1 : -1;
      d.normalize();
      const auto search = [&](double grow) {
        return reference::ray_meets(type, grow * size, p, d);
      };
      if (search(1 - 1e-9) != search(1 + 1e-9)) continue;
      const bool meets = physics::ray_meets<double>(type, physics_vector(size), physics_vector(p),
                                                    physics_vector(d));
      EXPECT_EQ(meets, search(1)) << "type " << static_cast<int>(type) << " ray " << i;
      ++(meets ? met : missed);
    }
    EXPECT_GT(met, 200);
    EXPECT_GT(missed, 500);
  }
}

}  // namespace
}  // namespace stiction::test
