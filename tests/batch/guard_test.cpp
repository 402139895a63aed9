// A batch is for one thread at a time: whoever comes second is refused, whatever the two call; and
// what ends a long step in between leaves a batch that goes on.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

#include "batch/batches.h"
#include "stiction/env.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

struct Call {
  const char* name;
  std::function<void()> make;
};

class OneThreadAtATime : public EveryDevice {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("stiction_guard_" + std::to_string(getpid())))
          .string();
  ~OneThreadAtATime() override {
    std::remove(path_.c_str());
    std::remove((path_ + ".json").c_str());
  }

  // Every entry of a batch that reads or writes what a step does.
  std::vector<Call> calls(Batch& b) const {
    static const int kIds[] = {1, 3};
    static const int kOthers[] = {0, 2};
    static const bool kMask[] = {true, false, true, false};
    const BatchState state = b.get_state(kIds);
    return {{"step", [&b] { b.step(); }},
            {"refresh", [&b] { b.refresh(); }},
            {"refresh of some", [&b] { b.refresh(kIds); }},
            {"reset", [&b] { b.reset(); }},
            {"reset of some", [&b] { b.reset(kIds); }},
            {"reset by mask", [&b] { b.reset(kMask); }},
            {"get_state", [&b] { b.get_state(kIds); }},
            {"set_state", [&b, state] { b.set_state(kIds, state); }},
            {"copy", [&b] { b.copy(kIds, kOthers); }},
            {"param", [&b] { b.param("gravity"); }},
            {"field of a parameter", [&b] { b.field("body_mass"); }},
            {"param_is_own", [&b] { b.param_is_own("gravity"); }},
            {"check_params", [&b] { b.check_params(); }},
            {"contacts", [&b] { b.contacts(1); }},
            {"contacts of all", [&b] { b.contacts(); }},
            {"compute", [&b] { b.compute("M"); }},
            {"jacobian", [&b] { b.jacobian(ObjectType::body, 1); }},
            {"inverse",
             [&b] { b.inverse(std::vector<double>(static_cast<std::size_t>(4 * b.model().nv))); }},
            {"frozen", [&b] { b.frozen(); }},
            {"counts", [&b] { b.counts(); }},
            {"clear_counts", [&b] { b.clear_counts(); }},
            {"status_count", [&b] { b.status_count(); }},
            {"state_hash", [&b] { b.state_hash(); }},
            {"memory", [&b] { b.memory(); }},
            {"save", [&b, this] { b.save(path_); }},
            {"load", [&b, this] { b.load(path_); }},
            {"dump", [&b, this] { b.dump(2, path_ + ".json"); }},
            {"synchronize", [&b] { b.synchronize(); }},
            {"set_poll", [&b] { b.set_poll(nullptr); }}};
  }
  // Of an Env, and of its batch.
  static std::vector<Call> calls(Env& e) {
    static const int kIds[] = {1, 3};
    static const std::uint64_t kSeeds[] = {5, 6};
    const std::vector<float> actions(static_cast<std::size_t>(4 * e.info().num_actions), 0.1f);
    const std::vector<std::byte> snapshot = e.snapshot();
    return {{"step", [&e, actions] { e.step(actions); }},
            {"step with physics", [&e, actions] { e.step(actions, [&e] { e.batch().step(); }); }},
            {"reset", [&e] { e.reset(); }},
            {"reset of some", [&e] { e.reset(kIds); }},
            {"seed", [&e] { e.seed(kIds, kSeeds); }},
            {"seed of all", [&e] { e.seed(7); }},
            {"observe", [&e] { e.observe(); }},
            {"snapshot", [&e] { e.snapshot(); }},
            {"restore", [&e, snapshot] { e.restore(snapshot); }},
            {"batch.step", [&e] { e.batch().step(); }},
            {"batch.get_state", [&e] { e.batch().get_state(kIds); }},
            {"batch.reset", [&e] { e.batch().reset(kIds); }},
            {"memory", [&e] { e.memory(); }}};
  }

  // Two threads make two calls again and again: each is done or refused.
  static void meet(const Call& a, const Call& b) {
    std::atomic<bool> end = false;
    std::atomic<int> done = 0, refused = 0, other = 0;
    const auto repeat = [&](const Call& call) {
      do {
        try {
          call.make();
          ++done;
        } catch (const ArgumentError&) {
          ++other;
        } catch (const Error& e) {
          ++(std::string(e.what()).find("another thread") != std::string::npos ? refused : other);
        }
      } while (!end);
    };
    std::thread second([&] { repeat(b); });
    std::thread timer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      end = true;
    });
    repeat(a);
    second.join(), timer.join();
    EXPECT_EQ(other, 0) << a.name << ", " << b.name;
    EXPECT_GT(done, 0) << a.name << ", " << b.name;
  }
  static void all_meet(const std::vector<Call>& calls) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      for (std::size_t k = i; k < calls.size(); ++k) meet(calls[i], calls[k]);
  }
};
STICTION_ON_EVERY_DEVICE(OneThreadAtATime);

struct Stop {};

// While another thread is in the middle of step() every call is refused, and changes nothing.
TEST_P(OneThreadAtATime, NothingComesBetweenTheStepsOfACall) {
  Batch b(crawler(), batch_options(4));
  b.param("body_mass");
  b.save(path_);
  const std::vector<Call> all = calls(b);
  std::promise<void> inside, let_go;
  b.set_poll([&, first = true]() mutable {
    if (!first) return;
    first = false;
    inside.set_value();
    let_go.get_future().wait();
    throw Stop();
  });
  std::thread stepping([&] { EXPECT_THROW(b.step(1000000), Stop); });
  inside.get_future().wait();
  for (const Call& call : all)
    EXPECT_THAT(error_message(call.make), HasSubstr("another thread is using this batch"))
        << call.name;
  EXPECT_EQ(b.field("qpos").shape[0], 4);  // a view of memory
  let_go.set_value();
  stepping.join();
  b.set_poll(nullptr);
  const double before = number(b, "time", 3, 0);
  b.step(2);
  EXPECT_NEAR(number(b, "time", 3, 0), before + 2 * 0.004, 1e-9);
}

TEST_P(OneThreadAtATime, AnyTwoCallsOfABatch) {
  Batch b(crawler(), batch_options(4));
  b.param("body_mass");
  b.save(path_);
  all_meet(calls(b));
  b.reset();
  b.step(3);
  EXPECT_EQ(b.status_count(), 0u);
}

TEST_P(OneThreadAtATime, AnyTwoCallsOfAnEnv) {
  EnvOptions o;
  o.num_envs = 4, o.device = device();
  Env e("HalfCheetah-v5", o);
  all_meet(calls(e));
  e.reset();
  EXPECT_EQ(e.batch().status_count(), 0u);
}

// A physics callback may use the batch, in its own thread, and nothing else.
TEST_P(OneThreadAtATime, WithinAStepOfAnEnv) {
  EnvOptions o;
  o.num_envs = 4, o.device = device();
  Env e("HalfCheetah-v5", o);
  const std::vector<Call> all = calls(e);
  const std::vector<float> actions(4 * 6, 0.1f);
  int refused = 0;
  e.step(actions, [&] {
    std::thread([&] {
      for (const Call& call : all)
        EXPECT_THAT(error_message(call.make), HasSubstr("another thread")) << call.name;
    }).join();
    for (const Call& call : all) {
      const bool of_batch = std::string(call.name).rfind("batch.", 0) == 0;
      const bool harmless = of_batch || std::string(call.name) == "memory";
      const std::string message = error_message(call.make);
      EXPECT_EQ(message.empty(), harmless) << call.name << ": " << message;
      if (harmless) continue;
      EXPECT_THAT(message, HasSubstr("from within")) << call.name;
      ++refused;
    }
    e.batch().step(5);
  });
  EXPECT_EQ(refused, 9);
  e.step(actions);
}

TEST_P(OneThreadAtATime, APollMayNotUseTheBatch) {
  Batch b(crawler(), batch_options(4));
  b.save(path_);
  const std::vector<Call> all = calls(b);
  int polls = 0;
  b.set_poll([&] {
    if (polls++ > 0) return;
    for (const Call& call : all)
      EXPECT_THAT(error_message(call.make), HasSubstr("from within")) << call.name;
  });
  b.step(600);
  EXPECT_GT(polls, 0);
}

// The calls of a poll change no bit and no count; what it throws ends the call between two steps.
TEST_P(OneThreadAtATime, APollEndsACallAfterWholeSteps) {
  const int n = 40;
  Batch polled(crawler(), batch_options(n)), straight(crawler(), batch_options(n));
  for (Batch* b : {&polled, &straight})
    for (int env = 0; env < n; ++env) start(*b, env, env);
  int polls = 0;
  polled.set_poll([&] { ++polls; });
  const int many = slow() ? 300 : 1000;
  polled.step(many), straight.step(many);
  EXPECT_GT(polls, 0);
  EXPECT_EQ(polled.state_hash(), straight.state_hash());
  const SolverCounts a = polled.counts(), b = straight.counts();
  EXPECT_EQ(a.env_steps, b.env_steps);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.pack_steps, b.pack_steps);
  EXPECT_EQ(a.pack_max_iterations, b.pack_max_iterations);

  const double begin = number(polled, "time", 0, 0);
  polls = 0;
  polled.set_poll([&] {
    if (++polls == 2) throw std::runtime_error("enough");
  });
  EXPECT_THROW(polled.step(1000000000), std::runtime_error);
  polled.set_poll(nullptr);
  const auto steps = std::lround((number(polled, "time", 0, 0) - begin) / 0.004);
  EXPECT_GT(steps, 0);
  for (int env = 1; env < n; ++env)
    EXPECT_EQ(number(polled, "time", env, 0), number(polled, "time", 0, 0)) << env;
  straight.step(static_cast<int>(steps));
  for (int env = 0; env < n; ++env) EXPECT_EQ(bytes(polled, env), bytes(straight, env)) << env;
  polled.step(), straight.step();
  EXPECT_EQ(polled.state_hash(), straight.state_hash());
}

// A call that is asked for many steps looks up soon, however many environments there are.
TEST(Poll, ComesSeveralTimesASecond) {
  BatchOptions o = batch_options(500);
  Batch b(crawler(), o);
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> at = {Clock::now()};
  b.set_poll([&] {
    at.push_back(Clock::now());
    if (at.size() > 8) throw Stop();
  });
  EXPECT_THROW(b.step(1000000000), Stop);
  for (std::size_t k = 1; k < at.size(); ++k)  // 0.1 s on a machine of its own
    EXPECT_LT(at[k] - at[k - 1], std::chrono::seconds(kSanitized ? 20 : 2)) << k;
}

}  // namespace
}  // namespace stiction::test
