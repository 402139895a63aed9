// Absurd numbers in every input and state: outputs stay finite, the status says what happened, and
// nobody else notices.
#include <cmath>
#include <limits>
#include <thread>

#include "batch/scenes.h"

namespace stiction::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kEnvs = 36;  // the odd ones are left alone

void expect_finite(Batch& b, const std::string& when) {
  for (const FieldInfo& f : Batch::fields(b.model())) {
    if (f.kind != "state" && f.kind != "output") continue;
    const std::vector<double> all = reals(b.field(f.name));
    const std::size_t columns = all.size() / static_cast<std::size_t>(b.num_envs());
    for (std::size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(std::isfinite(all[k]))
          << when << ": " << f.name << " " << k / columns << " " << k % columns;
  }
}
void expect_same_odd(Batch& calm, Batch& wild, const std::string& when) {
  for (int env = 1; env < kEnvs; env += 2)
    ASSERT_EQ(bytes(calm, env), bytes(wild, env)) << when << " " << env;
}

class Fuzz : public EveryScene {
 protected:
  std::mt19937 rng_{11};

  bool often(double p) { return std::uniform_real_distribution<double>(0, 1)(rng_) < p; }
  double absurd() {
    constexpr double kNumbers[] = {kNaN, kInf, -kInf, 1e30, -1e38, 1e-40, -0.0, 1e10, 3e8, -1e5};
    return kNumbers[std::uniform_int_distribution<std::size_t>(0, std::size(kNumbers) - 1)(rng_)];
  }
  // Some numbers of the even environments.
  void spoil(Batch& b, const char* field, double share) {
    const ArrayView v = b.field(field);
    std::vector<double> all = reals(v);
    for (int env = 0; env < kEnvs; env += 2)
      for (int i = 0; i < v.size() / kEnvs; ++i)
        if (often(share)) all[static_cast<std::size_t>(env * (v.size() / kEnvs) + i)] = absurd();
    put_reals(v, all);
  }
};
STICTION_ON_EVERY_SCENE(Fuzz);

TEST_P(Fuzz, BadInputs) {
  Batch calm = scattered(name(), up_to(kEnvs)), wild = scattered(name(), up_to(kEnvs));
  for (int round = 0; round < (slow() ? 3 : 12); ++round) {
    for (const char* field : {"ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat"})
      spoil(wild, field, 0.1);
    calm.step(2), wild.step(2);
    expect_finite(wild, "inputs");
    expect_same_odd(calm, wild, "inputs");
    // frozen ones get another chance
    std::vector<int> frozen;
    for (int env = 0; env < kEnvs; env += 2)
      if ((status(wild, env) & bit(kFrozen)) != 0) frozen.push_back(env);
    wild.reset(frozen);
    expect_finite(wild, "reset");
  }
  if (!slow()) {  // in a few rounds nothing lands
    EXPECT_GT(calm.counts().iterations, 0u);
  }
  EXPECT_GT(wild.counts().frozen, 0u);
}

TEST_P(Fuzz, BadStates) {
  Batch calm = scattered(name(), up_to(kEnvs)), wild = scattered(name(), up_to(kEnvs));
  for (int round = 0; round < (slow() ? 3 : 12); ++round) {
    for (const char* field : {"qpos", "qvel", "time", "body_airtime", "qacc_warmstart"})
      spoil(wild, field, 0.05);
    calm.step(2), wild.step(2);
    expect_finite(wild, "states");
    calm.refresh(), wild.refresh();
    expect_finite(wild, "refresh");
    expect_same_odd(calm, wild, "states");
    if (round % 3 == 2) {
      std::vector<int> even;
      for (int env = 0; env < kEnvs; env += 2) even.push_back(env);
      wild.reset(even);
    }
  }
  if (!slow()) {
    EXPECT_GT(wild.counts().iterations, 0u);
  }
}

// A number that is not finite counts as zero and is flagged; nothing else is.
TEST_P(Fuzz, NaNIsFlaggedAndCountsAsZero) {
  for (const char* field : {"ctrl", "qfrc_applied", "xfrc_applied"}) {
    Batch zero = scattered(name(), up_to(kEnvs)), bad = scattered(name(), up_to(kEnvs));
    const ArrayView v = bad.field(field), w = zero.field(field);
    const int n = static_cast<int>(v.size() / kEnvs);
    if (n == 0) continue;
    for (int env = 0; env < kEnvs; env += 2) {
      put(v, env, n - 1, env % 4 == 0 ? kNaN : kInf);
      put(w, env, n - 1, 0);
    }
    zero.step(2), bad.step(2);
    for (int env = 0; env < kEnvs; ++env) {
      ASSERT_EQ(bytes(zero, env), bytes(bad, env)) << field << " " << env;
      EXPECT_EQ(status(bad, env) & ~status(zero, env),
                env % 2 == 0 ? bit(Status::bad_control) : 0u);
      EXPECT_EQ(status(zero, env) & bit(Status::bad_control), 0u);
    }
    EXPECT_EQ(bad.status_count(), 0u);
  }
}

TEST_P(Fuzz, ExtremeParametersNeverGiveNaN) {
  for (const double factor : {1e-12, 1e-4, 1e4, 1e12}) {
    Batch calm = scattered(name(), up_to(kEnvs)), wild = scattered(name(), up_to(kEnvs));
    for (const char* name : {"body_mass", "body_inertia", "pair_stiffness", "geom_friction"}) {
      calm.param(name);
      const ArrayView v = wild.param(name);
      std::vector<double> all = reals(v);
      const int size = static_cast<int>(v.size() / kEnvs);
      // the three moments of a body together: no one of them exceeds the sum of the others
      const int together = name == std::string("body_inertia") ? 3 : 1;
      for (int env = 0; env < kEnvs; env += 2)
        for (int i = 0; i < size; i += together)
          if (often(0.3))
            for (int k = i; k < i + together; ++k)
              all[static_cast<std::size_t>(env * size + k)] *= factor;
      put_reals(v, all);
    }
    advance(calm, 3), advance(wild, 3);
    expect_finite(wild, "parameters");
    expect_same_odd(calm, wild, "parameters");
  }
}

// ---- the table of bad inputs, row by row, where others don't test it

class BadInputOnDevice : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(BadInputOnDevice);

TEST_P(BadInputOnDevice, WithoutFrictionNothingPullsSideways) {
  for (const ContactModel law : {ContactModel::lagged, ContactModel::similar, ContactModel::sap}) {
    Options o;
    o.contact_model = law;
    Batch b = scattered("stack", up_to(20), {}, o);
    const ArrayView mu = b.param("geom_friction");
    for (int env = 0; env < 20; ++env)
      for (int g = 0; g < b.model().ngeom; ++g) put(mu, env, g, 0);
    int loaded = 0;
    for (int k = 0; k < 20; ++k) {
      b.step();
      for (const Contact& c : b.contacts(k)) {
        if (c.normal[0] != 0 || c.normal[1] != 0) continue;
        EXPECT_EQ(c.impulse[0], 0);
        EXPECT_EQ(c.impulse[1], 0);
        loaded += c.impulse[2] > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(loaded, 20);
  }
}

TEST_P(BadInputOnDevice, HugeAndTinyFrictionIsFinite) {
  for (const double friction : {1e-12, 1e-6, 1e-3, 1e3, 1e6}) {
    Batch b = scattered("go2", up_to(20));
    const ArrayView mu = b.param("geom_friction");
    for (int env = 0; env < 20; ++env)
      for (int g = 0; g < b.model().ngeom; ++g) put(mu, env, g, friction);
    b.check_params();
    advance(b, 10);
    expect_finite(b, "friction");
    EXPECT_EQ(b.status_count(), 0u) << friction;
    EXPECT_GT(b.counts().contacts, 0u);
  }
}

TEST(BadInput, OptionsOutOfRangeAreRefused) {
  const auto refused = [](const auto& change) {
    BatchOptions o;
    change(o.options);
    return error_message([&] { Batch(scene("stack"), o); }) != "";
  };
  for (const double bad : {0.0, -1e-3, kNaN, kInf}) {
    EXPECT_TRUE(refused([&](Options& o) { o.timestep = bad; })) << bad;
    EXPECT_TRUE(refused([&](Options& o) { o.stiction_tolerance = bad; })) << bad;
    EXPECT_TRUE(refused([&](Options& o) { o.regularization = bad; })) << bad;
  }
  for (const double bad : {-1.0, kNaN})
    EXPECT_TRUE(refused([&](Options& o) { o.near_rigid = bad; })) << bad;
  EXPECT_TRUE(refused([](Options& o) { o.max_iterations = 0; }) ||
              !refused([](Options& o) { o.max_iterations = 1; }));
}

TEST_P(BadInputOnDevice, AStepBeforeAnyResetIsAStepFromTheReferencePose) {
  const BatchOptions o = batch_options(17);
  Batch fresh(scene("go2"), o), reset(scene("go2"), o);
  reset.reset();
  fresh.step(3), reset.step(3);
  EXPECT_EQ(fresh.state_hash(), reset.state_hash());
  EXPECT_GT(number(fresh, "time", 16, 0), 0);
}

TEST(BadInput, TwoBatchesInTwoThreadsDoNotMeet) {
  Batch alone = scattered("go2", up_to(40), 2);
  advance(alone, 6);
  Batch a = scattered("go2", up_to(40), 2), b = scattered("pile", up_to(40), 2);
  std::thread other([&] { advance(b, 6); });
  advance(a, 6);
  other.join();
  EXPECT_EQ(a.state_hash(), alone.state_hash());
  EXPECT_GT(b.counts().contacts, 0u);
}

TEST(BadInput, ADestroyedBatchLeavesTheOthersAlone) {
  Batch kept = scattered("go2", up_to(20), 2), same = scattered("go2", up_to(20), 2);
  {
    Batch other = scattered("go2", up_to(20), 2);
    advance(other, 1), advance(kept, 1), advance(same, 1);
  }
  advance(kept, 2), advance(same, 2);
  EXPECT_EQ(kept.state_hash(), same.state_hash());
}

}  // namespace
}  // namespace stiction::test
