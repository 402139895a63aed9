// Batches of a small robot with everything in it, and of the robots of the test data.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "batch/devices.h"
#include "model/mjcf.h"
#include "stiction/batch.h"

namespace stiction::test {

// A free body with two legs above a floor, a ball joint, a mocap body; motors and a servo.
inline ModelPtr crawler() {
  return mjcf(R"(
    <option timestep='0.004'/>
    <worldbody>
      <geom type='plane' size='5 5 1'/>
      <body name='m' mocap='true' pos='0 0 5'><geom size='.1'/></body>
      <body name='trunk' pos='0 0 0.6'><freejoint/>
        <geom type='box' size='.2 .1 .05' mass='2'/>
        <body name='leg1' pos='.2 0 0'>
          <joint name='j1' axis='0 1 0' range='-60 60' damping='.1'/>
          <geom type='capsule' fromto='0 0 0 0 0 -.4' size='.04' mass='.5'/>
        </body>
        <body name='leg2' pos='-.2 0 0'>
          <joint name='j2' axis='0 1 0' damping='.1' frictionloss='.02'/>
          <geom type='capsule' fromto='0 0 0 0 0 -.4' size='.04' mass='.5'/>
          <body pos='0 0 -.4'><joint name='ball' type='ball' damping='.05'/>
            <geom size='.05' mass='.1'/></body>
        </body>
      </body>
    </worldbody>
    <actuator>
      <motor joint='j1' gear='5' ctrlrange='-1 1' ctrllimited='true'/>
      <position joint='j2' kp='20' ctrlrange='-1 1' ctrllimited='true'/>
    </actuator>)");
}

inline std::vector<int> all_ids(const Batch& b) {
  std::vector<int> ids;
  for (int i = 0; i < b.num_envs(); ++i) ids.push_back(i);
  return ids;
}

template <class T>
T* data(const ArrayView& v) {  // on the CPU
  return static_cast<T*>(v.data);
}
// Number k of a view, wherever its memory is.
template <class T>
T peek(const ArrayView& v, std::int64_t k) {
  T x;
  copy_memory(v.device, &x, static_cast<const T*>(v.data) + k, sizeof x);
  return x;
}
template <class T>
void poke(const ArrayView& v, std::int64_t k, T x) {
  copy_memory(v.device, static_cast<T*>(v.data) + k, &x, sizeof x);
}

// Number i of environment env of a field.
inline double number(Batch& b, const std::string& field, int env, int i) {
  const ArrayView v = b.field(field);
  const std::int64_t k = env * (v.size() / v.shape[0]) + i;
  return v.dtype == DType::float64 ? peek<double>(v, k) : static_cast<double>(peek<float>(v, k));
}
inline void put(const ArrayView& v, int env, int i, double x) {
  const std::int64_t k = env * (v.size() / v.shape[0]) + i;
  if (v.dtype == DType::float64)
    poke(v, k, x);
  else
    poke(v, k, static_cast<float>(x));
}
// All numbers of a view in one copy, and back: on a card a copy takes longer than the numbers.
template <class T>
std::vector<T> numbers(const ArrayView& v) {
  std::vector<T> all(static_cast<std::size_t>(v.size()));
  copy_memory(v.device, all.data(), v.data, all.size() * sizeof(T));
  return all;
}
inline std::vector<double> reals(const ArrayView& v) {
  if (v.dtype == DType::float64) return numbers<double>(v);
  const std::vector<float> x = numbers<float>(v);
  return {x.begin(), x.end()};
}
inline void put_reals(const ArrayView& v, const std::vector<double>& x) {
  const std::vector<float> rounded(x.begin(), x.end());
  if (v.dtype == DType::float64)
    copy_memory(v.device, v.data, x.data(), x.size() * sizeof x[0]);
  else
    copy_memory(v.device, v.data, rounded.data(), rounded.size() * sizeof rounded[0]);
}
inline std::uint32_t status(Batch& b, int env) {
  return peek<std::uint32_t>(b.status(), env);
}
inline int status_step(Batch& b, int env) {
  return peek<std::int32_t>(b.status_step(), env);
}
constexpr auto bit(Status s) {
  return static_cast<std::uint32_t>(s);
}

// A state and controls that depend on `key` alone, not on where the environment is.
inline void start(Batch& b, int env, int key) {
  std::mt19937 rng(static_cast<unsigned>(key) * 7919u + 1u);
  std::uniform_real_distribution<double> uniform(-1, 1);
  BatchState s = b.get_state(std::span(&env, 1));
  s.qpos[2] += 0.1 * uniform(rng);
  for (std::size_t i = 7; i < 9; ++i) s.qpos[i] += 0.3 * uniform(rng);
  for (double& v : s.qvel) v = 0.5 * uniform(rng);
  b.set_state(std::span(&env, 1), s);
  for (int a = 0; a < b.model().nu; ++a) put(b.field("ctrl"), env, a, uniform(rng));
}

// The bytes of state and outputs of one environment; a failed test names the fields that differ.
struct Bytes {
  std::string all, hashes;
  bool operator==(const Bytes& o) const { return all == o.all; }
  friend void PrintTo(const Bytes& b, std::ostream* out) { *out << b.hashes; }
};
inline Bytes bytes(Batch& b, int env) {
  Bytes found;
  std::ostringstream hashes;
  for (const FieldInfo& f : Batch::fields(b.model())) {
    if (f.kind != "state" && f.kind != "output") continue;
    const ArrayView v = b.field(f.name);
    const std::size_t n =
        static_cast<std::size_t>(v.size() / v.shape[0]) * (v.dtype == DType::float64 ? 8 : 4);
    if (n == 0) continue;
    std::string row(n, '\0');
    copy_memory(v.device, row.data(),
                static_cast<const char*>(v.data) + n * static_cast<std::size_t>(env), n);
    found.all += row;
    hashes << f.name << ' ' << std::hex << std::hash<std::string>{}(row) % 0x10000 << ' ';
  }
  found.hashes = hashes.str();
  return found;
}

template <class F>
std::string error_message(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace stiction::test
