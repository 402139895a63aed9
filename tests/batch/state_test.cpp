// Reset, set_state, copy, save and load; what becomes of bad numbers.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "batch/batches.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Batch make(int n, ModelPtr m = crawler(), Precision p = Precision::float32) {
  BatchOptions o = batch_options(n);
  o.precision = p;
  Batch b(m, o);
  for (int env = 0; env < n; ++env) start(b, env, env);
  return b;
}

class BatchStates : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(BatchStates);

TEST_P(BatchStates, ResetTouchesOnlyItsEnvironments) {
  Batch b = make(40), fresh(crawler(), batch_options());
  b.step(4);
  std::vector<Bytes> before;
  for (int env = 0; env < 40; ++env) before.push_back(bytes(b, env));
  const std::vector<int> ids = {3, 39, 20};
  b.reset(ids);
  for (int env = 0; env < 40; ++env) {
    const bool was_reset = env == 3 || env == 39 || env == 20;
    EXPECT_EQ(bytes(b, env), was_reset ? bytes(fresh, 0) : before[static_cast<std::size_t>(env)]);
    if (was_reset) {
      EXPECT_EQ(number(b, "ctrl", env, 0), 0);
    }
  }
}

TEST_P(BatchStates, ResetByMaskAndWithAState) {
  Batch b = make(5);
  const int two[] = {1, 4};
  const BatchState s = b.get_state(two);
  BatchState given;
  given.qpos = s.qpos;
  const bool mask[] = {true, false, true, false, false};
  b.step(2);
  b.reset(mask, &given);
  EXPECT_EQ(number(b, "qpos", 2, 7), s.qpos[static_cast<std::size_t>(b.model().nq) + 7]);
  EXPECT_EQ(number(b, "qvel", 2, 0), 0);
  EXPECT_EQ(number(b, "time", 0, 0), 0);
  EXPECT_GT(number(b, "time", 1, 0), 0);
}

TEST_P(BatchStates, AWrittenStateThatIsRefreshedIsAResetWithIt) {
  Batch a = make(20), b = make(20);
  a.step(4), b.step(4);
  const std::vector<int> ids = {17, 2};
  BatchState s = a.get_state(std::vector<int>{3, 4});
  s.qvel.clear(), s.time.clear(), s.anchor.clear(), s.body_airtime.clear();
  s.qacc_warmstart.clear();
  s.mocap_xpos.clear(), s.mocap_xquat.clear(), s.mocap_xvel.clear();
  a.reset(ids, &s);
  b.reset(ids);
  const int nq = b.model().nq;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < nq; ++k)
      put(b.field("qpos"), ids[static_cast<std::size_t>(i)], k,
          s.qpos[static_cast<std::size_t>(i * nq + k)]);
  b.refresh(ids);
  for (int env = 0; env < 20; ++env) EXPECT_EQ(bytes(a, env), bytes(b, env)) << env;
  EXPECT_EQ(b.status_count(), 0u);
  put(b.field("qpos"), 2, 7, kNaN);
  b.refresh(std::vector<int>{5});
  EXPECT_EQ(b.status_count(), 0u);
  b.refresh(ids);
  EXPECT_EQ(status(b, 2), static_cast<std::uint32_t>(Status::bad_state));
  EXPECT_EQ(number(b, "qpos", 2, 7), b.model().qpos0[7]);
  EXPECT_EQ(bytes(a, 17), bytes(b, 17));
  EXPECT_THAT(error_message([&] { b.refresh(std::vector<int>{3, 3}); }), HasSubstr("twice"));
}

TEST_P(BatchStates, SetStateOfGetStateContinuesWithTheSameBits) {
  Batch a = make(20), b = make(20);
  a.step(3);
  b.set_state(all_ids(b), a.get_state(all_ids(a)));
  a.step(5), b.step(5);
  EXPECT_EQ(a.state_hash(), b.state_hash());
}

TEST_P(BatchStates, WrongArgumentsAreRefusedAndChangeNothing) {
  Batch b = make(4);
  const auto hash = b.state_hash();
  const auto refusal = [&](std::vector<int> ids, const auto& change) {
    const int one = 1;
    BatchState s = b.get_state(std::span(&one, 1));
    change(s);
    const std::string set = error_message([&] { b.set_state(ids, s); });
    EXPECT_EQ(set, error_message([&] { b.reset(ids, &s); }));
    return set;
  };
  const auto nothing = [](BatchState&) {};
  EXPECT_THAT(refusal({4}, nothing), HasSubstr("ids[0] = 4: must be in [0, 4)"));
  EXPECT_THAT(refusal({-1}, nothing), HasSubstr("ids[0] = -1"));
  EXPECT_THAT(refusal({2, 1, 2}, nothing), HasSubstr("ids contains 2 twice"));
  EXPECT_THAT(refusal({1, 2}, nothing), HasSubstr("2 environments need 2 x"));
  EXPECT_THAT(refusal({1}, [](auto& s) { s.qpos[8] = kNaN; }), HasSubstr("qpos[1, 8] = nan"));
  EXPECT_THAT(refusal({1}, [](auto& s) { s.qvel[2] = kInf; }), HasSubstr("qvel[1, 2] = inf"));
  EXPECT_THAT(refusal({1}, [](auto& s) { s.qpos[0] = 1e11; }), HasSubstr("at most 1e+10"));
  EXPECT_THAT(refusal({1}, [](auto& s) { s.qvel[0] = 1e9; }), HasSubstr("at most 1e+08"));
  EXPECT_THAT(refusal({1}, [](auto& s) { s.qpos[3] = s.qpos[4] = s.qpos[5] = s.qpos[6] = 0; }),
              HasSubstr("quaternion of length 0"));
  const std::vector<bool> unused;
  const bool short_mask[] = {true};
  EXPECT_THAT(error_message([&] { b.reset(std::span<const bool>(short_mask)); }),
              HasSubstr("the mask has 1 entries"));
  EXPECT_THAT(error_message([&] {
                b.copy(std::vector<int>{0}, std::vector<int>{1, 2});
              }),
              HasSubstr("src has 1 entries, dst 2"));
  EXPECT_THAT(error_message([&] {
                b.copy(std::vector<int>{0, 0}, std::vector<int>{1, 1});
              }),
              HasSubstr("twice"));
  EXPECT_EQ(b.state_hash(), hash);
  EXPECT_NO_THROW(b.reset(std::span<const int>()));  // an empty list is a list
  EXPECT_EQ(b.state_hash(), hash);
}

TEST_P(BatchStates, CopySwapsAndTakesEverythingAlong) {
  Batch a = make(40), b = make(40);
  put(a.param("body_mass"), 2, 2, 3.0);
  b.param("body_mass");
  put(b.param("body_mass"), 33, 2, 3.0);
  const int src[] = {2, 33}, dst[] = {33, 2};
  b.set_state(dst, a.get_state(src));
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i) put(b.field("ctrl"), dst[k], i, number(a, "ctrl", src[k], i));
  a.copy(src, dst);
  a.step(10), b.step(10);
  for (int env = 0; env < 40; ++env) EXPECT_EQ(bytes(a, env), bytes(b, env)) << env;
}

// Some are read and written, some read several times, one keeps its place.
TEST_P(BatchStates, CopyGoesByWayOfACopy) {
  const std::vector<int> src = {1, 2, 0, 2, 6, 5, 39}, dst = {0, 1, 2, 3, 6, 39, 20};
  Batch b = make(40);
  put(b.param("body_mass"), 2, 2, 3.0);
  put(b.param("pair_friction"), 39, 0, 0.3);
  const auto inside = [&](int env) {
    std::vector<double> all;
    for (const char* name : {"ctrl", "mocap_pos", "qfrc_applied", "body_mass", "pair_friction"}) {
      const ArrayView v = b.field(name);
      for (int i = 0; i < v.size() / v.shape[0]; ++i) all.push_back(number(b, name, env, i));
    }
    all.push_back(status(b, env)), all.push_back(status_step(b, env));
    return all;
  };
  b.step(3);
  put(b.field("ctrl"), 39, 0, kNaN);
  b.step();
  put(b.field("ctrl"), 39, 0, 0.5);
  std::vector<Bytes> outside;
  std::vector<std::vector<double>> before;
  for (int env = 0; env < 40; ++env)
    outside.push_back(bytes(b, env)), before.push_back(inside(env));
  b.copy(src, dst);
  for (int env = 0; env < 40; ++env) {
    const auto found = std::find(dst.begin(), dst.end(), env);
    const auto from = static_cast<std::size_t>(
        found != dst.end() ? src[static_cast<std::size_t>(found - dst.begin())] : env);
    EXPECT_EQ(bytes(b, env), outside[from]) << env;
    EXPECT_EQ(inside(env), before[from]) << env;
  }
  EXPECT_EQ(number(b, "body_mass", 1, 2), 3.0);
  EXPECT_EQ(status(b, 20), bit(Status::bad_control));
  // steps since the reset came along
  b.reset(std::vector<int>{20});
  b.copy(std::vector<int>{20}, std::vector<int>{0});
  put(b.field("ctrl"), 0, 0, kNaN);
  b.step();
  EXPECT_EQ(status_step(b, 0), 0);
}

TEST_P(BatchStates, ResetKeepsOwnParametersAndChecksThem) {
  Batch b = make(5), fresh(crawler(), batch_options(5));
  put(b.param("body_mass"), 3, 2, 4.0), put(fresh.param("body_mass"), 3, 2, 4.0);
  fresh.refresh();
  b.step(2);
  const std::vector<int> ids = {3, 1};
  b.reset(ids);
  EXPECT_EQ(number(b, "body_mass", 3, 2), 4.0);
  EXPECT_EQ(number(b, "body_mass", 1, 2), 2.0);
  b.reset();
  b.step(3), fresh.step(3);
  EXPECT_EQ(b.state_hash(), fresh.state_hash());
  EXPECT_NE(bytes(b, 3), bytes(b, 1));
  put(b.field("body_mass"), 3, 2, -1.0);
  const Bytes before = bytes(b, 3);
  EXPECT_THAT(error_message([&] { b.reset(ids); }), HasSubstr("body_mass[3, 2] = -1"));
  EXPECT_EQ(bytes(b, 3), before);
  EXPECT_NO_THROW(b.reset(std::vector<int>{1}));
}

TEST_P(BatchStates, CopyTakesTheStatusAlong) {
  Batch b = make(20);
  b.step(3);
  put(b.field("qpos"), 3, 8, kNaN);
  put(b.field("ctrl"), 4, 0, kNaN);
  b.step();
  b.copy(std::vector<int>{3, 4, 5}, std::vector<int>{13, 14, 3});
  EXPECT_EQ(status(b, 13), bit(Status::bad_state));
  EXPECT_EQ(status(b, 14), bit(Status::bad_control));
  EXPECT_EQ(status(b, 3), 0u);
  EXPECT_EQ(status_step(b, 13), 3);
  EXPECT_EQ(b.status_count(), 1u);
  b.step();
  EXPECT_EQ(bytes(b, 3), bytes(b, 5));
  EXPECT_EQ(bytes(b, 4), bytes(b, 14));
}

TEST_P(BatchStates, ABadStateInAViewBecomesTheReferencePoseFrozen) {
  for (const double bad : {kNaN, kInf, 1e11}) {
    Batch b = make(40), good = make(40);
    b.step(2), good.step(2);
    put(b.field("qpos"), 5, 8, bad);
    b.step(3), good.step(3);
    EXPECT_EQ(status(b, 5), bit(Status::bad_state));
    EXPECT_EQ(status_step(b, 5), 2);
    EXPECT_EQ(b.status_count(), 1u);
    Batch fresh(crawler(), batch_options());
    EXPECT_EQ(number(b, "qpos", 5, 8), number(fresh, "qpos", 0, 8));
    EXPECT_EQ(number(b, "xpos", 5, 5), number(fresh, "xpos", 0, 5));
    for (int env = 0; env < 40; ++env)
      if (env != 5) {
        EXPECT_EQ(bytes(b, env), bytes(good, env));
      }
    const Bytes frozen = bytes(b, 5);
    b.step(2);
    EXPECT_EQ(bytes(b, 5), frozen);
    const int five = 5;
    b.reset(std::span(&five, 1));
    EXPECT_EQ(status(b, 5), 0u);
    b.step();
    EXPECT_GT(number(b, "time", 5, 0), 0);
  }
}

// STICTION_POISON fills what a step computes anew, and nothing else.
TEST_P(BatchStates, PoisonSparesWhatIsNotStored) {
  setenv("STICTION_POISON", "1", 1);
  Batch b = make(20);
  unsetenv("STICTION_POISON");
  put(b.field("qpos"), 3, 8, kNaN);
  b.step(2);
  EXPECT_EQ(b.status_count(), 1u);
  const Bytes frozen = bytes(b, 3), other = bytes(b, 4);
  b.step(2);
  EXPECT_EQ(bytes(b, 3), frozen);
  EXPECT_NE(bytes(b, 4), other);
  b.reset(std::vector<int>{4});
  EXPECT_EQ(bytes(b, 3), frozen);
}

TEST_P(BatchStates, AFailedStepFreezesStateAndOutputsAtOnce) {
  Batch b = make(20);
  b.step(2);
  put(b.field("qfrc_applied"), 3, 0, 1e13);
  const double time = number(b, "time", 3, 0);
  const int three = 3;
  const BatchState before = b.get_state(std::span(&three, 1));
  b.clear_counts();
  b.step();
  const BatchState after = b.get_state(std::span(&three, 1));
  EXPECT_EQ(after.qpos, before.qpos);
  EXPECT_EQ(after.qvel, before.qvel);
  EXPECT_EQ(after.body_airtime, before.body_airtime);
  // at such speeds squares overflow, and other bits of a frozen environment may join
  EXPECT_NE(status(b, 3) & bit(Status::velocity_limit), 0u);
  EXPECT_EQ(status_step(b, 3), 2);
  EXPECT_EQ(number(b, "time", 3, 0), time);
  const Bytes frozen = bytes(b, 3);
  put(b.field("qfrc_applied"), 3, 0, 0);
  b.step(5);
  EXPECT_EQ(bytes(b, 3), frozen);
  EXPECT_EQ(b.counts().frozen, 1u);
  EXPECT_EQ(b.counts().env_steps, 19u * 6 + 1);
}

TEST_P(BatchStates, AnEnvironmentThatFailsWithinACallTakesNoFurtherSteps) {
  Batch b = make(20);
  put(b.field("qfrc_applied"), 3, 0, 1e30);
  b.step(5);
  EXPECT_EQ(number(b, "time", 3, 0), 0);
  EXPECT_EQ(b.counts().frozen, 1u);
  EXPECT_EQ(b.counts().env_steps, 19u * 5 + 1);
}

TEST_P(BatchStates, BadInputsCountAsZeroAndAreFlagged) {
  Batch b = make(20), zero = make(20);
  put(b.field("ctrl"), 7, 0, kNaN);
  put(zero.field("ctrl"), 7, 0, 0);
  put(b.field("mocap_pos"), 9, 1, kNaN);
  b.step(3), zero.step(3);
  EXPECT_NE(status(b, 7) & bit(Status::bad_control), 0u);
  EXPECT_NE(status(b, 9) & bit(Status::bad_control), 0u);
  EXPECT_EQ(b.status_count(), 0u);
  EXPECT_EQ(b.state_hash(), zero.state_hash());
  for (int env = 0; env < 20; ++env) EXPECT_EQ(bytes(b, env), bytes(zero, env));
}

TEST_P(BatchStates, AbsurdInputsLeaveEveryOutputFinite) {
  for (const double absurd : {1e30, -1e38, kInf, kNaN, 1e-40}) {
    Batch b = make(20), calm = make(20);
    for (int i = 0; i < 2; ++i) put(b.field("ctrl"), 3, i, absurd);
    for (int i = 0; i < 3; ++i) put(b.field("qfrc_applied"), 3, i, absurd);
    for (int i = 6; i < 24; ++i) put(b.field("xfrc_applied"), 4, i, absurd);
    b.step(20), calm.step(20);
    for (const FieldInfo& f : Batch::fields(b.model())) {
      if (f.kind != "state" && f.kind != "output") continue;
      for (int env = 0; env < 20; ++env)
        for (int i = 0; i < f.rows * f.columns; ++i)
          ASSERT_TRUE(std::isfinite(number(b, f.name, env, i))) << f.name << " " << env << " " << i;
    }
    for (int env = 0; env < 20; ++env)
      if (env != 3 && env != 4) {
        EXPECT_EQ(bytes(b, env), bytes(calm, env)) << env;
      }
  }
}

TEST_P(BatchStates, RoundOffIsStalledNotUnconverged) {
  const auto bits_of = [](auto change) {
    BatchOptions o = batch_options(20);
    change(o.options);
    Batch b(crawler(), o);
    for (int env = 0; env < 20; ++env) start(b, env, env);
    b.step(60);
    std::uint32_t bits = 0;
    for (int env = 0; env < 20; ++env) bits |= status(b, env);
    EXPECT_GT(b.counts().contacts, 0u);
    return bits;
  };
  EXPECT_EQ(bits_of([](Options& o) { o.solver_tolerance = 1e-12; }) & ~bit(Status::late_contact),
            bit(Status::stalled));
  EXPECT_NE(bits_of([](Options& o) { o.max_iterations = 1; }) & bit(Status::not_converged), 0u);
}

class BatchFile : public EveryDevice {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("stiction_batch_" + std::to_string(::getpid())))
          .string();
  ~BatchFile() override { std::remove(path_.c_str()); }

  std::string contents() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
};
STICTION_ON_EVERY_DEVICE(BatchFile);

TEST_P(BatchFile, LoadContinuesWithTheSameBits) {
  Batch a = make(33);
  put(a.param("body_mass"), 2, 2, 3.0);
  put(a.field("qpos"), 4, 0, kNaN);
  a.step(4);
  a.save(path_);
  Batch b = make(33);
  // what the file doesn't have becomes the model's, where it is
  const ArrayView gravity = b.param("gravity");
  const std::vector<double> of_model = reals(gravity);
  put_reals(gravity, std::vector<double>(of_model.size(), 1.0));
  b.load(path_);
  EXPECT_TRUE(b.param_is_own("body_mass"));
  EXPECT_EQ(b.param("gravity").data, gravity.data);
  EXPECT_EQ(reals(gravity), of_model);
  EXPECT_EQ(b.state_hash(), a.state_hash());
  EXPECT_EQ(status(b, 4), bit(Status::bad_state));
  a.step(20), b.step(20);
  for (int env = 0; env < 33; ++env)
    if (env != 4) {
      EXPECT_EQ(bytes(a, env), bytes(b, env)) << env;
    }
  EXPECT_EQ(b.state_hash(), a.state_hash());
  // steps since the reset go on
  put(b.field("ctrl"), 0, 0, kNaN);
  b.step();
  EXPECT_EQ(status_step(b, 0), 24);
}

TEST_P(BatchFile, ForeignAndDamagedFilesAreRefusedAndChangeNothing) {
  Batch a = make(3);
  a.save(path_);
  const std::string good = contents();
  const auto hash = a.state_hash();
  const auto refusal = [&](Batch& b) { return error_message([&] { b.load(path_); }); };

  Batch more = make(4);
  EXPECT_THAT(refusal(more), HasSubstr("holds 3 environments, this batch has 4"));
  BatchOptions float64;
  float64.num_envs = 3, float64.precision = Precision::float64;
  Batch wide(crawler(), float64);
  EXPECT_NE(refusal(wide), "");
  Batch other(mjcf("<worldbody><body><freejoint/><geom size='1'/></body></worldbody>"),
              batch_options());
  EXPECT_THAT(refusal(other), HasSubstr("another model"));

  a.step();
  const auto stepped = a.state_hash();
  for (std::size_t i :
       {std::size_t{0}, std::size_t{9}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    write(damaged);
    EXPECT_THAT(refusal(a), HasSubstr(path_)) << i;
  }
  for (const std::size_t n : {std::size_t{0}, std::size_t{40}, good.size() / 2, good.size() - 1}) {
    write(good.substr(0, n));
    EXPECT_NE(refusal(a), "") << n;
  }
  write(good + "x");
  EXPECT_THAT(refusal(a), HasSubstr("damaged"));
  std::remove(path_.c_str());
  EXPECT_THAT(refusal(a), HasSubstr("can't be read"));
  EXPECT_EQ(a.state_hash(), stepped);
  write(good);
  a.load(path_);
  EXPECT_EQ(a.state_hash(), hash);
  EXPECT_THAT(error_message([&] { a.save("/nowhere/at/all"); }), HasSubstr("can't be written"));
}

TEST_P(BatchFile, DumpIsOneEnvironmentAsJson) {
  Batch b = make(3);
  put(b.param("body_mass"), 1, 2, 3.0);
  b.step(2);
  b.dump(1, path_);
  const auto json = nlohmann::json::parse(contents());
  EXPECT_EQ(json["env"], 1);
  EXPECT_EQ(json["options"]["contact_model"], "lagged");
  EXPECT_EQ(json["state"]["qpos"][8], number(b, "qpos", 1, 8));
  EXPECT_EQ(json["inputs"]["ctrl"][1], number(b, "ctrl", 1, 1));
  EXPECT_EQ(json["parameters"]["body_mass"][2], 3.0);
  EXPECT_FALSE(json["parameters"].contains("gravity"));
  EXPECT_THAT(error_message([&] { b.dump(3, path_); }), HasSubstr("ids[0] = 3"));
}

}  // namespace
}  // namespace stiction::test
