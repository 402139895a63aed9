#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "batch/archive.h"
#include "fuzz/formats.h"
#include "stiction/batch.h"
#include "stiction/env.h"
#include "stiction/error.h"

namespace stiction::test {
namespace {

using Refusals = std::vector<std::string>;
using Raw = std::vector<std::byte>;

Raw raw(const std::string& text) {
  Raw bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
std::string text(const Raw& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// With a right checksum of its bytes from `begin` to `end`, which are the last of that part.
void seal(Raw& bytes, std::size_t begin, std::size_t end) {
  constexpr std::size_t kSum = sizeof(Archive::Checksum);
  if (end > bytes.size() || begin > end || end - begin < kSum) return;
  const Archive::Checksum sum = hash_bytes(bytes.data() + begin, end - begin - kSum);
  std::memcpy(bytes.data() + end - kSum, &sum, kSum);
}

void finite(const ArrayView& v) {
  for (std::int64_t k = 0; k < v.size(); ++k) {
    const double x = v.dtype == DType::float64
                         ? static_cast<const double*>(v.data)[k]
                         : static_cast<double>(static_cast<const float*>(v.data)[k]);
    if (!std::isfinite(x))
      throw std::logic_error(v.name + " is not finite after a step from what was loaded");
  }
}

// "" where nothing is wrong with it; after a refusal `after` must be as before.
template <class Restore>
void attempt(Refusals& refused, const char* source, const Batch& b, const Restore& restore) {
  const std::uint64_t before = b.state_hash();
  try {
    restore();
  } catch (const Error& e) {
    refused.emplace_back(e.what());
    if (refused.back().find(source) == std::string::npos)
      throw std::logic_error("an error does not say what is damaged: " + refused.back());
    if (b.state_hash() != before)
      throw std::logic_error("a refusal changed the state: " + refused.back());
  }
}

Batch make_batch() {
  constexpr const char* kModel = R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/>
    <body name="box" pos="0 0 0.3"><freejoint/><geom type="box" size=".2 .1 .05" mass="2"/>
      <body pos=".2 0 0"><joint name="j" axis="0 1 0" range="-60 60"/><geom type="capsule" size=".04" fromto="0 0 0 0 0 -.4"/></body></body>
    <body mocap="true"><geom size=".1"/></body></worldbody>
    <actuator><position joint="j" kp="20"/><intvelocity joint="j" kp="2" actrange="-1 1"/></actuator></mujoco>)";
  BatchOptions o;
  o.num_envs = 2, o.threads = 1;
  Batch b(load_model_from_string(kModel), o);
  b.param("body_mass"), b.param("jnt_range");
  b.step(20);
  return b;
}

Refusals batch(const std::string& content) {
  static Batch b = make_batch();
  Refusals refused;
  Raw bytes = raw(content);
  seal(bytes, 0, bytes.size());
  attempt(refused, "snapshot of a batch", b, [&] { b.restore(bytes); });
  if (!refused.empty()) return refused;
  b.step(2);
  for (const char* output : {"xpos", "qacc", "xfrc_contact"}) finite(b.field(output));
  return refused;
}

// Of a task without a memory, of one that observes its last actions, and of one that remembers its ground.
constexpr const char* kTasks[] = {"InvertedPendulum-v5", "Go2Flat", "Go2Rough"};

std::vector<Env>& envs() {
  static std::vector<Env> all = [] {
    std::vector<Env> made;
    for (const char* task : kTasks) {
      EnvOptions o;
      o.num_envs = 2;
      o.threads = 1;
      made.emplace_back(task, o);
    }
    return made;
  }();
  return all;
}

Refusals env(const std::string& content) {
  constexpr std::size_t kHeader = 48, kCount = 40;
  Raw bytes = raw(content);
  if (bytes.size() > kHeader) {  // of the batch inside, then of all
    std::uint64_t batch_bytes;
    std::memcpy(&batch_bytes, bytes.data() + kCount, sizeof batch_bytes);
    if (batch_bytes < bytes.size() - kHeader) seal(bytes, kHeader, kHeader + batch_bytes);
  }
  seal(bytes, 0, bytes.size());
  Refusals refused;
  for (Env& e : envs()) {
    const std::size_t before = refused.size();
    attempt(refused, "snapshot of environments", e.batch(), [&] { e.restore(bytes); });
    if (refused.size() > before) continue;
    const std::vector<float> actions(2 * static_cast<std::size_t>(e.info().num_actions), 0.5F);
    for (int k = 0; k < 2; ++k) e.step(actions);
    e.reset();
    for (const ArrayView& v : {e.obs(), e.reward(), e.metrics(), e.final_obs()}) finite(v);
  }
  if (refused.size() < envs().size()) refused.clear();  // one of them took it
  return refused;
}

std::vector<std::string> env_seeds() {
  std::vector<std::string> seeds;
  for (Env& e : envs()) {
    e.step(std::vector<float>(2 * static_cast<std::size_t>(e.info().num_actions), 0.3F));
    seeds.push_back(text(e.snapshot()));
  }
  return seeds;
}

}  // namespace

const std::vector<Format>& state_formats() {
  static const std::vector<Format> all{
      {"batch", &batch, {text(make_batch().snapshot())}, {"avx512", "avx2"}},
      {"env", &env, env_seeds(), {}},
  };
  return all;
}

}  // namespace stiction::test
