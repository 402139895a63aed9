// Reset, access to the state, copies, hash.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "batch/impl.h"

namespace stiction {
namespace {

struct StateField {
  std::vector<double> BatchState::*numbers;
  Field field;
  bool clear;  // zero if a state given by the user omits it
};
constexpr StateField kState[] = {{&BatchState::qpos, Field::qpos, false},
                                 {&BatchState::qvel, Field::qvel, false},
                                 {&BatchState::act, Field::act, false},
                                 {&BatchState::time, Field::time, false},
                                 {&BatchState::anchor, Field::anchor, true},
                                 {&BatchState::friction_anchor, Field::friction_anchor, true},
                                 {&BatchState::rebound, Field::rebound, true},
                                 {&BatchState::body_airtime, Field::body_airtime, true},
                                 {&BatchState::qacc_warmstart, Field::qacc_warmstart, true},
                                 {&BatchState::mocap_xpos, Field::mocap_xpos, true},
                                 {&BatchState::mocap_xquat, Field::mocap_xquat, true},
                                 {&BatchState::mocap_xvel, Field::mocap_xvel, true}};

std::vector<int> ids_of(std::span<const bool> mask) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) ids.push_back(static_cast<int>(i));
  return ids;
}

}  // namespace

std::vector<int> all_ids(int n) {
  std::vector<int> ids(at(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Returns the bound on the numbers of a state.
double Batch::Impl::limit(Field f) const {
  if (f == Field::qpos) return kStateLimit;
  if (f == Field::mocap_xpos || f == Field::mocap_xquat) return kStateLimit;
  if (f == Field::qvel || f == Field::mocap_xvel) return kVelocityLimit;
  if (f == Field::qacc_warmstart) return 2 * kVelocityLimit / *options.timestep;
  return std::numeric_limits<double>::max();
}

void Batch::Impl::write_reference(int env, FieldKind kind) {
  for (const RowSpec& r : loaded)
    if (r.field == Field::anchor && kind == FieldKind::state)
      clear_anchors(env);
    else if (r.kind == kind)
      std::copy_n(reference_row[at(r.field)], r.bytes, rows[at(r.field)] + r.bytes * at(env));
}

void Batch::Impl::reset_environment(int env) {
  physics::reset_environment(physics::TeamOfOne(), host_status(), env,
                             [&](auto kind) { write_reference(env, kind); });
}

// Resets environments on the device or CPU where the batch lives.
void Batch::Impl::reset(const int* ids, int n) {
  if (device != nullptr) {
    if (n > 0) device->reset(ids, n);
    return;
  }
  for (int i = 0; i < n; ++i) reset_environment(ids != nullptr ? ids[i] : i);
}

// Throws on an index out of range and, if ids must be distinct, on a repeated one.
void Batch::Impl::check_ids(std::span<const int> ids, bool distinct) const {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= num_envs())
      throw ArgumentError("ids[" + std::to_string(i) + "] = " + std::to_string(ids[i]) +
                          ": must be in [0, " + std::to_string(num_envs()) + ")");
  if (!distinct) return;
  std::vector<int> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw ArgumentError("ids contains " + std::to_string(*twice) + " twice");
}

void Batch::Impl::check_state(std::span<const int> ids, const BatchState& state) const {
  for (const StateField& part : kState) {
    const FieldSpec& s = spec(part.field);
    const std::vector<double>& x = state.*part.numbers;
    if (x.empty()) continue;
    if (x.size() != ids.size() * at(s.size())) {
      std::ostringstream message;
      message << s.name << " has " << x.size() << " numbers, " << ids.size()
              << " environments need " << ids.size() << " x " << s.size();
      throw ArgumentError(message.str());
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::fabs(x[i]) <= limit(part.field)) continue;
      std::ostringstream message;
      message << describe(part.field, ids[i / at(s.size())], static_cast<int>(i % at(s.size())))
              << " = " << x[i] << ": must be finite and at most " << limit(part.field);
      throw ArgumentError(message.str());
    }
  }
  for (std::size_t i = 0; i < ids.size() && !state.qpos.empty(); ++i)
    for (const int adr : quaternions) {
      if (has_direction(&state.qpos[i * at(model->nq) + at(adr)])) continue;
      throw ArgumentError(describe(Field::qpos, ids[i], adr) +
                          " begins a quaternion of length 0; it must have a direction");
    }
  for (std::size_t i = 0; i < state.mocap_xquat.size(); i += 4) {
    const double* const q = &state.mocap_xquat[i];
    const double norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (norm2 == 0 || std::fabs(norm2 - 1) <= kUnitQuat2) continue;
    const std::size_t size = at(spec(Field::mocap_xquat).size());
    throw ArgumentError(describe(Field::mocap_xquat, ids[i / size], static_cast<int>(i % size)) +
                        " begins a quaternion that must have length 1, or be 0");
  }
}

// Only the fields given in the state are transferred to a device; outside of a reset the cleared status
// is, too.
void Batch::Impl::write_state(std::span<const int> ids, const BatchState& state, bool after_reset) {
  std::vector<RowCopy> written;
  for (const StateField& part : kState) {
    const FieldSpec& s = spec(part.field);
    const std::vector<double>& x = state.*part.numbers;
    if (s.size() == 0 || (x.empty() && (after_reset || !part.clear))) continue;
    if (device != nullptr) written.push_back(row_copy(part.field));
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (int k = 0; k < s.size(); ++k)
        set(row(part.field, ids[i]), s, k, x.empty() ? 0.0 : x[i * at(s.size()) + at(k)]);
    if (part.field == Field::anchor)
      for (const int env : ids) anchors.forget(env);
  }
  if (!after_reset) {
    for (const int env : ids) physics::clear_status(host_status(), env);
    if (device != nullptr)
      for (const RowCopy& r : row_copies(kStatusRows)) written.push_back(r);
  }
  if (!written.empty() && !ids.empty())
    device->send(written, ids.data(), static_cast<int>(ids.size()));
}

void Batch::reset() {
  reset(all_ids(num_envs()));
}
void Batch::reset(std::span<const int> ids, const BatchState* state) {
  const Visit visit(impl_->guard);
  impl_->check_ids(ids, true);
  if (state != nullptr) impl_->check_state(ids, *state);
  impl_->fetch(kParamRows, ids);
  for (const int env : ids) impl_->check_params(env);
  impl_->reset(ids.data(), static_cast<int>(ids.size()));
  if (state != nullptr) impl_->write_state(ids, *state, true);
  impl_->run({ids.data(), static_cast<int>(ids.size()), 0, true});
}
void Batch::reset(std::span<const bool> mask, const BatchState* state) {
  if (mask.size() != at(num_envs()))
    throw ArgumentError("the mask has " + std::to_string(mask.size()) + " entries, the batch " +
                        std::to_string(num_envs()) + " environments");
  reset(ids_of(mask), state);
}

BatchState Batch::get_state(std::span<const int> ids) const {
  const Visit visit(impl_->guard);
  impl_->check_ids(ids, false);
  impl_->fetch(kStateRows, ids);
  BatchState state;
  for (const StateField& part : kState)
    for (const int env : ids) {
      const std::vector<double> x = impl_->numbers(part.field, env);
      (state.*part.numbers).insert((state.*part.numbers).end(), x.begin(), x.end());
    }
  return state;
}

void Batch::set_state(std::span<const int> ids, const BatchState& state) {
  const Visit visit(impl_->guard);
  impl_->check_ids(ids, true);
  impl_->check_state(ids, state);
  impl_->write_state(ids, state, false);
  impl_->run({ids.data(), static_cast<int>(ids.size()), 0, true});
}

void Batch::teleport(std::span<const int> ids) {
  const Visit visit(impl_->guard);
  impl_->check_ids(ids, true);
  std::vector<RowCopy> written;
  for (const Field f : {Field::mocap_xquat, Field::mocap_xvel}) {
    const FieldSpec& s = impl_->spec(f);
    if (s.size() == 0) continue;
    if (impl_->device != nullptr) written.push_back(impl_->row_copy(f));
    for (const int env : ids)
      for (int k = 0; k < s.size(); ++k) impl_->set(impl_->row(f, env), s, k, 0);
  }
  if (!written.empty() && !ids.empty())
    impl_->device->send(written, ids.data(), static_cast<int>(ids.size()));
}

void Batch::copy(std::span<const int> src, std::span<const int> dst) {
  if (src.size() != dst.size())
    throw ArgumentError("src has " + std::to_string(src.size()) + " entries, dst " +
                        std::to_string(dst.size()));
  const Visit visit(impl_->guard);
  impl_->check_ids(src, false);
  impl_->check_ids(dst, true);
  if (impl_->device != nullptr)
    return impl_->device->copy_envs(src.data(), dst.data(), static_cast<int>(src.size()));
  // through a buffer: an environment may be source and target
  const auto move = [&](std::byte* data, std::size_t bytes) {
    std::vector<std::byte> taken(src.size() * bytes);
    for (std::size_t i = 0; i < src.size(); ++i)
      std::copy_n(data + at(src[i]) * bytes, bytes, taken.data() + i * bytes);
    for (std::size_t i = 0; i < dst.size(); ++i)
      std::copy_n(taken.data() + i * bytes, bytes, data + at(dst[i]) * bytes);
  };
  for (int i = 0; i < kFields; ++i)
    if (impl_->rows[at(i)] != nullptr)
      move(impl_->rows[at(i)], impl_->row_bytes(impl_->host.specs()[at(i)]));
  for (const int env : dst) impl_->anchors.forget(env);
  move(reinterpret_cast<std::byte*>(impl_->status.data()), sizeof impl_->status[0]);
  move(reinterpret_cast<std::byte*>(impl_->status_step.data()), sizeof impl_->status_step[0]);
  move(reinterpret_cast<std::byte*>(impl_->steps.data()), sizeof impl_->steps[0]);
}

std::vector<int> Batch::frozen() const {
  const Visit visit(impl_->guard);
  impl_->fetch_all(kStatusRows);
  std::vector<int> ids;
  for (int env = 0; env < num_envs(); ++env)
    if (impl_->frozen(env)) ids.push_back(env);
  return ids;
}
std::uint64_t Batch::status_count() const {
  return frozen().size();
}

SolverCounts Batch::counts() const {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr) impl_->device->take_counts(impl_->counts);
  return impl_->counts;
}
void Batch::clear_counts() {
  const Visit visit(impl_->guard);
  if (impl_->device != nullptr) impl_->device->take_counts(impl_->counts);
  const std::size_t bins = impl_->counts.iteration_histogram.size();
  impl_->counts = {};
  impl_->counts.iteration_histogram.resize(bins);
}

std::uint64_t Batch::state_hash() const {
  const Visit visit(impl_->guard);
  impl_->fetch_all(kStateRows);
  std::uint64_t hash = hash_bytes(nullptr, 0);
  for (int env = 0; env < num_envs(); ++env)
    for_fields(impl_->host.specs(), {FieldKind::state}, [&](Field f, const FieldSpec& s) {
      hash = hash_bytes(impl_->row(f, env), impl_->row_bytes(s), hash);
    });
  return hash;
}

}  // namespace stiction
