#include "batch/emulated_device.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "batch/device.h"
#include "batch/emulated_episodes.h"
#include "cpu/buffer.h"
#include "cpu/layout.h"
#include "cuda/lane_kernels.h"
#include "cuda/rounds.h"
#include "cuda/rows.h"
#include "stiction/error.h"

namespace stiction::test {
namespace {

using cpu::Field;
using cpu::FieldKind;
using cpu::kFields;
using cuda::Kernel;

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}
constexpr std::size_t at(Field f) {
  return static_cast<std::size_t>(f);
}

// What the protocols of arrays say of a card is said of it.
constexpr const char* kLikeCuda = "cuda_emulated";

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(const DeviceSpec& spec, Lanes lanes)
      : spec_(spec),
        n_(spec.given.num_envs),
        // one lane factors by lists
        layout_(spec, lanes == Lanes::one ? nullptr : cuda::unused_fields(spec.host.view()),
                lanes == Lanes::thread),
        share_bytes_(emulated_share()),
        memory_(layout_.bytes),
        share_(at(share_bytes_)),
        claimed_(memory_.data(), layout_.bytes),
        own_(kFields),
        lanes_(lanes),
        kernels_(lanes) {
    stream_ = spec.given.stream;
    if (spec.given.num_envs > kMost) throw ArgumentError("device = 'emulated': too many");
    cpu::fill_unwritten(at_byte(0), layout_.bytes);  // nothing is there but what was sent
    std::memset(at_byte(layout_.counters), 0, at(n_) * layout_.counter_bytes);
    write_reference_rows(spec, layout_, at_byte(layout_.reference_begin));
    fields_ = reinterpret_cast<cuda::FieldRows*>(at_byte(layout_.field_rows));
    reference_ = reinterpret_cast<std::byte**>(at_byte(layout_.tables));
    for (std::size_t f = 0; f < at(kFields); ++f) {
      fields_[f] = {};
      if (layout_.first[f] != DeviceLayout::kNone)
        fields_[f] = {at_byte(layout_.first[f]), layout_.stride[f]};
      reference_[f] =
          layout_.reference[f] == DeviceLayout::kNone ? nullptr : at_byte(layout_.reference[f]);
    }
    for (int k = 0; k < cuda::kKernels; ++k)
      arenas_.push_back(cuda::make_arena(static_cast<Kernel>(k), spec.host.view(), share_bytes_));
    model_changed();
  }

  std::string name() const override {
    return spec_.given.device == kLikeCuda ? kLikeCuda : "emulated";
  }
  std::string description() const override {
    constexpr const char* kGroups[] = {"one lane", "a thread", "4 lanes", "8 lanes",
                                       "16 lanes", "a warp",   "a block"};
    return std::string("on the host, by ") + kGroups[static_cast<int>(lanes_)];
  }
  std::size_t bytes() const override { return layout_.bytes + model_bytes_; }
  int number() const override { return 0; }
  std::byte* rows(Field f) const override {
    const cpu::FieldSpec& s = spec_.host.specs()[at(f)];
    if (s.kind == FieldKind::param && fields_[at(f)].stride == 0) return nullptr;
    return fields_[at(f)].first;
  }
  physics::StatusArrays status_arrays() const override {
    return layout_.status_arrays(memory_.data());
  }

  void make_own(Field f) override {
    const std::size_t row = layout_.row_bytes[at(f)];
    own_[at(f)] = cpu::Buffer(at(n_) * row);
    for (int env = 0; env < n_; ++env)
      std::copy_n(reference_[at(f)], row, own_[at(f)].data() + at(env) * row);
    fields_[at(f)] = {own_[at(f)].data(), row};
  }
  void model_changed() override {
    model_bytes_ = spec_.host.array_bytes();
    arrays_ = cpu::Buffer(model_bytes_);
    model_ = spec_.host.copy_arrays(arrays_.data(), arrays_.data());
  }

  void reset(const int* ids, int n) override {
    for_words(lists().reset(), ids, n, physics::Repeat{words_at(layout_.reference_begin)});
  }
  void copy_envs(const int* src, const int* dst, int n) override {
    constexpr std::size_t kRoom = 7;  // a row is never taken whole
    std::uint32_t* const between = words_at(layout_.staging);
    cuda::for_parts(lists().all(), kRoom, n, [&](const cuda::Transfers& part) {
      for_words(part, src, n, physics::Gather{between});
      for_words(part, dst, n, physics::Scatter{between});
    });
  }
  void fetch(std::span<const RowCopy> rows, const int* ids, int n) override {
    emulated_crossings().fetched += static_cast<int>(rows.size());
    for (const RowCopy& r : rows)
      for (int i = 0; i < n; ++i) {
        const std::size_t begin = r.bytes * at(ids != nullptr ? ids[i] : i);
        std::copy_n(r.device + begin, r.bytes, r.host + begin);
      }
  }
  void send(std::span<const RowCopy> rows, const int* ids, int n) override {
    emulated_crossings().sent += static_cast<int>(rows.size());
    for (const RowCopy& r : rows)
      for (int i = 0; i < n; ++i) {
        const std::size_t begin = r.bytes * at(ids != nullptr ? ids[i] : i);
        std::copy_n(r.host + begin, r.bytes, r.device + begin);
      }
  }

  void run(const int* ids, int n, int steps, bool store_frozen, int after) override {
    cuda::Launch l = all();
    l.envs = ids, l.count = n, l.store_frozen = store_frozen, l.after = after;
    run(l, steps);
  }
  std::unique_ptr<DeviceEpisodes> episodes(const EpisodesSpec& spec) override {
    return emulated_episodes(spec, lanes_,
                             {.num_envs = n_,
                              .poison = poison_,
                              .launch = [this] { return all(); },
                              .model = [this]() -> const physics::ModelView& { return model_; },
                              .run = [this](const cuda::Launch& l, int steps) { run(l, steps); }});
  }

  void take_counts(SolverCounts& c) override {
    static_assert(kDeviceCounters == cuda::kCounters);
    const std::size_t columns = at(cuda::kCounters + spec_.options.max_iterations + 1);
    std::uint32_t* const counters = words_at(layout_.counters);
    std::vector<std::uint64_t> sums(columns);
    for (std::size_t i = 0; i < at(n_) * columns; ++i) {
      sums[i % columns] += counters[i];
      counters[i] = 0;
    }
    cuda::add_counters(sums.data(), c);
  }

  void set_stream(std::uintptr_t stream) override { stream_ = stream; }
  std::uintptr_t stream() const override { return stream_; }
  void release_to(std::uintptr_t) override {}
  void wait_for(std::uintptr_t) override {}
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void wait() override {}

 private:
  static constexpr int kMost = 1 << 20;

  std::byte* at_byte(std::size_t begin) const { return memory_.data() + begin; }
  std::uint32_t* words_at(std::size_t begin) const {
    return reinterpret_cast<std::uint32_t*>(at_byte(begin));
  }
  cuda::RowLists lists() const { return {spec_.host.specs(), layout_, fields_, memory_.data()}; }
  template <class F>
  static void for_words(const cuda::Transfers& t, const int* ids, int n, const F& f) {
    for (int k = 0; k < t.count; ++k) physics::for_words(t.list[k], ids, 0, n, 0, 1, f);
  }

  cuda::Launch all() const {
    cuda::Launch l{};
    l.fields = fields_;
    l.reference = reference_;
    l.records = {status_arrays(), reinterpret_cast<std::uint8_t*>(at_byte(layout_.store)),
                 reinterpret_cast<std::uint32_t*>(at_byte(layout_.counters))};
    l.count = n_;
    l.rounds = {at_byte(layout_.rounds), reinterpret_cast<float*>(at_byte(layout_.matrices)),
                reinterpret_cast<float*>(at_byte(layout_.vectors)),
                reinterpret_cast<std::int32_t*>(at_byte(layout_.info)),
                reinterpret_cast<std::int32_t*>(at_byte(layout_.waiting))};
    return l;
  }
  void run(cuda::Launch l, int steps) const {
    l.moves = steps > 0;
    const int launches = std::max(1, steps);
    for (int k = 0; k < launches; ++k) {
      l.first = k == 0, l.last = k == launches - 1, l.left = launches - k + l.after;
      if (poison_)
        for_words(lists().unwritten(true), l.envs, l.count, physics::FillUnwritten{l, false});
      launch(Kernel::dynamics, l);
      if (cuda::has_kernel(model_, Kernel::collide)) launch(Kernel::collide, l);
      if (rounds_)
        solve_in_rounds(l);
      else
        launch(Kernel::solve, l);
      launch(Kernel::move, l);
    }
    if (poison_)
      for_words(lists().unwritten(false), l.envs, l.count, physics::FillUnwritten{l, true});
    launch(Kernel::refresh, l);
  }
  template <class F>
  void for_envs(const cuda::Launch& l, const F& f) const {
    for (int i = 0; i < l.count; ++i) f(l.envs != nullptr ? l.envs[i] : i);
  }
  // In the place of the library: the lower triangles are factored, in place, and nothing else is read.
  void solve_in_rounds(const cuda::Launch& l) const {
    using Matrix = Eigen::Map<Eigen::MatrixXf>;
    const Eigen::Index nv = model_.nv;
    auto* const info = reinterpret_cast<std::int32_t*>(at_byte(layout_.info));
    for (Kernel k = Kernel::solve_begin;; k = Kernel::solve_next) {
      *l.rounds.waiting = 0;
      launch(k, l);
      if (*l.rounds.waiting == 0) return;
      for (int env = 0; env < n_; ++env) {
        Matrix H(l.rounds.matrices + env * nv * nv, nv, nv);
        Eigen::Map<Eigen::VectorXf> x(l.rounds.vectors + env * nv, nv);
        const Eigen::LLT<Eigen::Ref<Eigen::MatrixXf>, Eigen::Lower> factor(H);
        info[env] = factor.info() == Eigen::Success && env != emulated_unfactored() ? 0 : 1;
        factor.solveInPlace(x);
        H.triangularView<Eigen::StrictlyUpper>().setConstant(NAN);
      }
    }
  }
  void launch(Kernel kernel, const cuda::Launch& l) const {
    const cuda::Arena& arena = arenas_[static_cast<std::size_t>(kernel)];
    for_envs(l, [&](int env) {
      cpu::fill_unwritten(share_.data(),
                          at(share_bytes_));  // what the last environment left is gone
      kernels_.run(kernel, model_, l, env, arena, share_.data());
      if (lanes_ != Lanes::thread && l.records.store[env] != 0) check_loaded(kernel, arena, env);
    });
  }
  // What is loaded into fast memory and not stored again, the kernel must not have changed.
  void check_loaded(Kernel kernel, const cuda::Arena& arena, int env) const {
    const auto row = [&](Field f) {
      return fields_[at(f)].first + fields_[at(f)].stride * static_cast<std::size_t>(env);
    };
    int npoint = 0;
    if (kernel == Kernel::solve) std::memcpy(&npoint, row(Field::npoint), sizeof npoint);
    const std::uint8_t *const stored = arena.store, *const last = stored + arena.nstore;
    for (int k = 0; k < arena.nload; ++k) {
      const cuda::ArenaEntry& entry = arena.entry[arena.load[k]];
      const int begin = physics::arena_bytes(entry.begin, npoint);
      const int bytes = physics::arena_bytes(entry.size, npoint);
      if (begin + bytes > arena.bytes || std::find(stored, last, arena.load[k]) != last) continue;
      const auto f = static_cast<Field>(entry.field);
      if (std::memcmp(share_.data() + begin, row(f), at(bytes)) != 0)
        throw Error(std::string("arena.h: a kernel changes ") + spec_.host.specs()[at(f)].name +
                    ", which it only loads: list it as inout");
    }
  }

  DeviceSpec spec_;
  int n_;
  DeviceLayout layout_;
  int share_bytes_;
  cpu::Buffer memory_, arrays_, share_;
  EmulatedMemory claimed_;
  std::vector<cpu::Buffer> own_;
  cuda::FieldRows* fields_;
  std::byte** reference_;
  std::vector<cuda::Arena> arenas_;
  physics::ModelView model_;
  std::size_t model_bytes_ = 0;
  std::uintptr_t stream_ = 0;
  bool rounds_ = spec_.options.linear_solver == LinearSolver::cusolver;
  bool poison_ = std::getenv("STICTION_POISON") != nullptr;
  Lanes lanes_;
  LaneKernels kernels_;
};

}  // namespace

Crossings& emulated_crossings() {
  static Crossings counted;
  return counted;
}

int& emulated_unfactored() {
  static int env = -1;
  return env;
}

int& emulated_share() {
  static int bytes = 8192;  // some fields fit, some don't
  return bytes;
}

void register_emulated_device() {
  const auto add = [](const std::string& name, Lanes lanes) {
    register_device(name, [lanes](const DeviceSpec& spec) {
      const bool thread = lanes == Lanes::one && cuda::fits_thread(spec.host.view()) &&
                          spec.options.linear_solver != LinearSolver::cusolver;
      return std::make_unique<EmulatedDevice>(spec, thread ? Lanes::thread : lanes);
    });
  };
  add("emulated", Lanes::one), add("emulated_4", Lanes::tile4);
  add("emulated_8", Lanes::tile8), add("emulated_16", Lanes::tile16);
  add("emulated_warp", Lanes::warp), add("emulated_block", Lanes::block);
  add(kLikeCuda, Lanes::one);
}

}  // namespace stiction::test
