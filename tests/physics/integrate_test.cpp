// The new state against the reference engine, and lanes that must not move.
#include "physics/integrate.h"

#include "physics/states.h"

namespace stiction::test {
namespace {

constexpr auto kRun = [](const auto& team, const physics::ModelView& m, auto& e) {
  physics::clear_flags(team, m, e);
  physics::integrate(team, m, e);
};
const std::vector<Field> kState = {Field::qpos, Field::qvel, Field::time};
const std::vector<Field> kFields = {Field::qpos, Field::qvel, Field::time, Field::flags};
constexpr int kBadState = physics::flag_index(Status::bad_state);
constexpr int kVelocity = physics::flag_index(Status::velocity_limit);

constexpr std::uint32_t kStatusBits = physics::SizesView::nstatus;

// The velocities at the end of the step are those of the solve.
const Options kOptions = [] {
  Options o;
  o.gyroscopic = Gyroscopic::explicit_euler;
  return o;
}();

// Every joint type, and nothing that touches.
const NamedModel& zoo() {
  static const NamedModel model = [] {
    std::string xml = kZoo;
    const std::string defaults = R"(<default><geom contype="0" conaffinity="0"/></default>)";
    xml.insert(xml.find("<worldbody>"), defaults);
    return NamedModel{"zoo", load_model_from_string(xml)};
  }();
  return model;
}

// A state and the velocity at its end.
template <class S>
void set_step(Env<S>& env, const State& s, const std::vector<double>& v) {
  set_state(env, s);
  env.set(Field::v, v);
  env.fill(Field::flags, 0);
}

template <class S>
void compare(double tolerance) {
  const NamedModel& model = zoo();
  ASSERT_EQ(model.model->npair, 0);
  const Reference ref(model.model, kOptions);
  RandomStates random;
  for (int i = 0; i < 20; ++i) {
    const State s = random(*model.model);
    const StepResult step = ref.step(s.qpos, s.qvel, s.inputs());
    ASSERT_FALSE(any(step.status, kFrozen));
    Env<S> env(*model.model, kOptions);
    set_step(env, s, step.qvel);
    env.fill(Field::time, 0.5);
    kRun(physics::TeamOfOne(), env.m(), env.e);
    expect_near(env.get(Field::qpos), step.qpos, tolerance, "qpos");
    expect_near(env.get(Field::qvel), step.qvel, std::max(tolerance, physics::epsilon<S>()),
                "qvel");
    EXPECT_EQ(env.get(Field::time)[0], 0.5 + model.model->timestep);
    EXPECT_EQ(env.get(Field::flags), std::vector<double>(kStatusBits, 0.0));
  }
}

TEST(Integrate, AgreesWithTheReference) {
  compare<double>(1e-14);
}

// Positions are wide; they inherit half an ulp of a velocity of up to 2^5, times the time step, in
// coordinates of order 1.
TEST(Integrate, AgreesWithTheReferenceInFloat) {
  compare<float>(0x1p-23 * 32 * 0.003);
  compare<TestPack>(0x1p-23 * 32 * 0.003);
}

// A lane whose step is bad keeps the bits of its state, and its neighbours don't notice.
class BadLane : public testing::Test {
 protected:
  using Lanes = Env<TestPack>;

  BadLane() : state_(RandomStates()(*zoo().model)), v_(state_.qvel.size(), 1.0) {}

  // Steps a pack whose lane 1 `spoil` has touched; the bits that lane 1 sets.
  template <class F>
  Status step(const F& spoil) {
    Lanes env(*zoo().model, kOptions), clean(*zoo().model, kOptions),
        before(*zoo().model, kOptions);
    for (Lanes* p : {&env, &clean, &before}) {
      set_step(*p, state_, v_);
      // signs of zeros are bits too
      p->put(Field::qvel, 2, 1, -0.0);
      p->put(Field::qpos, 0, 1, -0.0);
    }
    spoil(env), spoil(before);
    // flags of earlier stages survive: clear_flags is not called
    physics::integrate(physics::TeamOfOne(), env.m(), env.e);
    physics::integrate(physics::TeamOfOne(), clean.m(), clean.e);
    for (const Field f : kState) {
      expect_same_bits(env.get(f, 1), before.get(f, 1), "bad lane");
      expect_same_bits(env.get(f, 0), clean.get(f, 0), "neighbour");
    }
    EXPECT_EQ(env.get(Field::flags, 0), std::vector<double>(kStatusBits, 0.0));
    Status bits = Status::ok;
    for (std::uint32_t i = 0; i < kStatusBits; ++i)
      if (env.number(Field::flags, static_cast<int>(i), 1) > 0)
        bits |= static_cast<Status>(1u << i);
    return bits;
  }
  int free_adr() const {
    return zoo().model->jnt_qposadr[static_cast<std::size_t>(zoo().model->joint("fly"))];
  }

  State state_;
  std::vector<double> v_;
  const double nan_ = std::numeric_limits<double>::quiet_NaN();
};

TEST_F(BadLane, NotANumber) {
  EXPECT_EQ(step([&](Lanes& e) { e.put(Field::v, 3, 1, nan_); }), Status::bad_state);
  EXPECT_EQ(step([&](Lanes& e) { e.put(Field::v, 0, 1, INFINITY); }), Status::bad_state);
  EXPECT_EQ(step([&](Lanes& e) { e.put(Field::qvel, 1, 1, nan_); }), Status::bad_state);
  EXPECT_EQ(step([&](Lanes& e) { e.put(Field::qpos, 1, 1, nan_); }), Status::bad_state);
  EXPECT_EQ(step([&](Lanes& e) { e.put(Field::qpos, free_adr() + 5, 1, nan_); }),
            Status::bad_state);
}
TEST_F(BadLane, OutOfRange) {
  EXPECT_EQ(step([](Lanes& e) { e.put(Field::v, 3, 1, -2e8); }), Status::velocity_limit);
  EXPECT_EQ(step([](Lanes& e) { e.put(Field::qvel, 3, 1, 2e8); }), Status::velocity_limit);
  EXPECT_EQ(step([](Lanes& e) { e.put(Field::qpos, 1, 1, -2e10); }), Status::bad_state);
  // in range before the step, not after it
  EXPECT_EQ(step([](Lanes& e) {
              e.put(Field::qpos, 1, 1, kStateLimit);
              e.put(Field::v, 1, 1, 9e7);
            }),
            Status::bad_state);
}
TEST_F(BadLane, QuaternionOfLengthZero) {
  EXPECT_EQ(step([&](Lanes& e) {
              for (int k = 3; k < 7; ++k) e.put(Field::qpos, free_adr() + k, 1, 0);
            }),
            Status::bad_state);
}
TEST_F(BadLane, FlagsOfEarlierStages) {
  const auto raise = [](Status bit) {
    return [bit](Lanes& e) { e.put(Field::flags, physics::flag_index(bit), 1, 1); };
  };
  EXPECT_EQ(step(raise(Status::cholesky_failed)), Status::cholesky_failed);
  EXPECT_EQ(step(raise(Status::bad_state)), Status::bad_state);
}
// What does not step sets no bits, whatever garbage it holds.
TEST_F(BadLane, NotActive) {
  EXPECT_EQ(step([&](Lanes& e) {
              e.put(Field::active, 0, 1, 0);
              e.put(Field::v, 0, 1, nan_);
              e.put(Field::flags, physics::flag_index(Status::stalled), 1, 1);
            }),
            Status::ok);
}

TEST(Integrate, BadControlDoesNotFreeze) {
  Env<double> env(*zoo().model, kOptions);
  const State s = RandomStates()(*zoo().model);
  set_step(env, s, s.qvel);
  env.put(Field::flags, physics::flag_index(Status::bad_control), 0, 1);
  physics::integrate(physics::TeamOfOne(), env.m(), env.e);
  EXPECT_GT(env.get(Field::time)[0], 0);
  EXPECT_EQ(env.get(Field::flags)[kBadState] + env.get(Field::flags)[kVelocity], 0);
}

TEST(Integrate, NegativeZerosDontLeak) {
  Env<double> env(*zoo().model, kOptions);
  State s = RandomStates()(*zoo().model);
  s.qpos[0] = -0.0;
  set_step(env, s, std::vector<double>(s.qvel.size(), -0.0));
  kRun(physics::TeamOfOne(), env.m(), env.e);
  EXPECT_FALSE(std::signbit(env.get(Field::qpos)[0]));
  for (const double v : env.get(Field::qvel)) EXPECT_FALSE(std::signbit(v));
}

// 2π / δt steps of a spin about one axis lead back.
TEST(Integrate, AQuaternionTurnsByTheExponentialMap) {
  const Model& m = *zoo().model;
  Options options = kOptions;
  options.timestep = 0.01;
  Env<double> env(m, options);
  State s = RandomStates()(m);
  const int adr = m.jnt_qposadr[static_cast<std::size_t>(m.joint("neck"))];
  const int dof = m.jnt_dofadr[static_cast<std::size_t>(m.joint("neck"))];
  for (int k = 0; k < 4; ++k) s.qpos[static_cast<std::size_t>(adr + k)] = k == 0;
  set_step(env, s, std::vector<double>(s.qvel.size(), 0.0));
  env.put(Field::v, dof + 1, 0, 2 * 3.14159265358979 / (100 * 0.01));
  for (int i = 0; i < 25; ++i) kRun(physics::TeamOfOne(), env.m(), env.e);
  EXPECT_NEAR(env.number(Field::qpos, adr, 0), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(env.number(Field::qpos, adr + 2, 0), std::sqrt(0.5), 1e-14);
  EXPECT_EQ(env.number(Field::qpos, adr + 1, 0), 0);
}

constexpr auto kRunFromQvel = [](const auto& team, const physics::ModelView& m, auto& e) {
  team.for_each(m.nv, [&](int i) { e.v[i] = e.qvel[i] + e.qvel[i]; });
  kRun(team, m, e);
};

TEST(Integrate, AnyTeamGivesTheSameBits) {
  expect_any_team<double>(zoo(), kRunFromQvel, kFields);
  expect_any_team<TestPack>(zoo(), kRunFromQvel, kFields);
}

TEST(Integrate, LanesAreIndependent) {
  expect_independent_lanes(zoo(), kRunFromQvel, kFields);
}

}  // namespace
}  // namespace stiction::test
