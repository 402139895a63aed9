#include "batch/device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "batch/impl.h"

namespace stiction {
namespace {

std::map<std::string, DeviceMaker>& registered() {
  static std::map<std::string, DeviceMaker> makers;
  return makers;
}

// Returns the number of "cuda:1", -1 for "cuda"; throws on anything else.
int cuda_number(const std::string& name) {
  const std::string prefix = "cuda";
  if (name == prefix) return -1;
  const std::string digits = name.rfind(prefix + ":", 0) == 0 ? name.substr(prefix.size() + 1) : "";
  if (digits.empty() || digits.size() > 4 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    throw ArgumentError("device = '" + name +
                        "': must be 'cpu', 'cuda' or 'cuda:0', 'cuda:1', ...");
  return std::stoi(digits);
}

// Alignment of scratch rows, for threads of a team that read neighbouring words.
constexpr std::size_t kAlign = 16;
constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

std::size_t number_bytes(const FieldSpec& s) {
  return s.type == FieldType::wide ? sizeof(double) : sizeof(float);
}

}  // namespace

DeviceLayout::DeviceLayout(const DeviceSpec& spec, bool (*unused)(Field), bool scratch_by_field) {
  const cpu::FieldSpecs& specs = spec.host.specs();
  const std::size_t n = at(spec.given.num_envs);
  const auto take = [&](std::size_t size) {
    const std::size_t begin = bytes;
    bytes += rounded(size, cpu::kCacheLine);
    return begin;
  };
  reference.fill(kNone);

  for_fields(specs, {FieldKind::state, FieldKind::input, FieldKind::output},
             [&](Field f, const FieldSpec& s) {
               row_bytes[at(f)] = stride[at(f)] = number_bytes(s) * at(s.size());
               first[at(f)] = take(n * stride[at(f)]);
             });
  reference_begin = bytes;
  for_fields(specs, {FieldKind::state, FieldKind::input, FieldKind::param},
             [&](Field f, const FieldSpec& s) {
               row_bytes[at(f)] = number_bytes(s) * at(s.size());
               reference[at(f)] = take(row_bytes[at(f)]);
               if (s.kind == FieldKind::param) first[at(f)] = reference[at(f)];
             });
  reference_status = take(kStatusArrays * sizeof(std::uint32_t));
  reference_end = bytes;
  for (std::size_t& begin : status) begin = take(n * sizeof(std::uint32_t));
  store = take(n);
  counter_bytes = sizeof(std::uint32_t) * at(kDeviceCounters + spec.options.max_iterations + 1);
  counters = take(n * counter_bytes);
  field_rows = take(at(kFields) * 2 * sizeof(void*));
  tables = take(at(kFields) * sizeof(void*));
  ids = take(2 * n * sizeof(int));
  // staging is from here on written by copies of environments (device_rows.cpp); the addresses are set once
  const bool rounds_by_library = spec.options.linear_solver == LinearSolver::cusolver;
  if (rounds_by_library) addresses = take(2 * n * sizeof(void*));
  // room for at least the rows of one environment, and a word of each environment
  std::size_t all = 3 * sizeof(std::uint32_t);
  for (const std::size_t row : row_bytes) all += row;
  staging_bytes = std::max({kStaging, rounded(all, kAlign), n * sizeof(std::uint32_t)});
  staging = take(staging_bytes);

  if (rounds_by_library) {
    const std::size_t nv = at(spec.host.view().nv);
    rounds = take(n * kRoundBytes);
    matrices = take(n * nv * nv * sizeof(float));
    vectors = take(n * nv * sizeof(float));
    info = take(n * sizeof(std::int32_t));
    waiting = take(2 * sizeof(std::int32_t));
  }

  // a team works in one region, its threads side by side on one field
  std::size_t region = 0;
  scratch = bytes;
  for_fields(specs, {FieldKind::scratch}, [&](Field f, const FieldSpec& s) {
    first[at(f)] = kNone;
    if (unused != nullptr && unused(f)) return;
    const std::size_t row = number_bytes(s) * at(s.size());
    if (scratch_by_field) {
      stride[at(f)] = row;
      first[at(f)] = take(n * row);
    } else {
      first[at(f)] = bytes + region;
      region += rounded(row, kAlign);
    }
  });
  if (scratch_by_field) return;
  region = rounded(region, cpu::kCacheLine);
  for_fields(specs, {FieldKind::scratch},
             [&](Field f, const FieldSpec&) { stride[at(f)] = region; });
  bytes += n * region;
}

void write_reference_rows(const DeviceSpec& spec, const DeviceLayout& layout, std::byte* to) {
  for (std::size_t f = 0; f < at(kFields); ++f)
    if (layout.reference[f] != DeviceLayout::kNone)
      std::copy_n(spec.reference[f], layout.row_bytes[f],
                  to + (layout.reference[f] - layout.reference_begin));
  std::array<std::uint32_t, kStatusArrays> status;
  auto* const words = reinterpret_cast<std::int32_t*>(status.data());
  physics::clear_status({status.data(), words + 1, words + 2}, 0);
  std::memcpy(to + (layout.reference_status - layout.reference_begin), words, sizeof status);
}

std::size_t device_bytes(const DeviceSpec& spec) {
  if (registered().count(spec.given.device) == 0) return cuda_device_bytes(spec);
  return DeviceLayout(spec).bytes + spec.host.array_bytes();
}

std::size_t device_local_bytes(const DeviceSpec& spec, int task_kind) {
  const std::string& name = spec.given.device;
  if (registered().count(name) != 0) return 0;
  return cuda_local_bytes(spec, cuda_number(name), task_kind);
}

void register_device(const std::string& name, DeviceMaker maker) {
  registered()[name] = std::move(maker);
}

void check_device_name(const std::string& name) {
  if (name != "cpu" && registered().count(name) == 0) cuda_number(name);
}

std::unique_ptr<Device> make_device(const DeviceSpec& spec) {
  const std::string& name = spec.given.device;
  if (const auto found = registered().find(name); found != registered().end())
    return found->second(spec);
  return make_cuda_device(spec, cuda_number(name));
}

CudaReport cuda_devices() {
  return cuda_report();
}

#ifndef STICTION_CUDA
namespace {
constexpr const char* kNotBuilt =
    "this build has no CUDA back end; install the CUDA toolkit (nvcc, 12.8 or later), build again "
    "by ./dev setup --cuda or with cmake -D STICTION_CUDA=ON, or use device = 'cpu'";
}

std::size_t cuda_device_bytes(const DeviceSpec& spec) {
  throw ArgumentError("device = '" + spec.given.device + "': " + kNotBuilt);
}
std::size_t cuda_local_bytes(const DeviceSpec&, int, int) {
  return 0;
}
std::unique_ptr<Device> make_cuda_device(const DeviceSpec& spec, int) {
  throw ArgumentError("device = '" + spec.given.device + "': " + kNotBuilt);
}
CudaReport cuda_report() {
  CudaReport r;
  r.problem = kNotBuilt;
  return r;
}
#endif

}  // namespace stiction
