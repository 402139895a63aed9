// ns per environment of every stage of physics/step.h, over packs of the native instruction set.
// usage: bench_stage MODEL...; STICTION_BENCH_ENVS and _STEPS change sizes. States come from a Batch
// after a second of motion at the controls of the first keyframe; each has its own perturbation.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/block.h"
#include "cpu/host_model.h"
#include "cpu/pack.h"
#include "physics/step.h"
#include "stiction/batch.h"

namespace stiction {
namespace {

using physics::FieldKind;
using physics::FieldType;
using S = physics::Pack<float, physics::kNativeLanes>;
constexpr int kW = physics::kNativeLanes;
using Clock = std::chrono::steady_clock;

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// A batch that has moved.
Batch moving(const ModelPtr& m, int num_envs) {
  BatchOptions options;
  options.num_envs = num_envs, options.threads = 1;
  Batch b(m, options);
  std::vector<int> ids(static_cast<std::size_t>(num_envs));
  std::iota(ids.begin(), ids.end(), 0);
  BatchState state = b.get_state(ids);
  const auto nq = static_cast<std::size_t>(m->nq), nu = static_cast<std::size_t>(m->nu);
  if (m->nkey)
    for (std::size_t i = 0; i < state.qpos.size(); ++i) state.qpos[i] = m->key_qpos[i % nq];
  for (std::size_t i = 0; i < state.qvel.size(); ++i)
    state.qvel[i] = 0.1 * std::sin(12.9898 * static_cast<double>(i));
  b.set_state(ids, state);
  auto* ctrl = static_cast<float*>(b.field("ctrl").data);
  if (m->nkey)
    for (std::size_t i = 0; i < nu * ids.size(); ++i)
      ctrl[i] = static_cast<float>(m->key_ctrl[i % nu]);
  b.step(static_cast<int>(1 / b.options().timestep.value()));
  return b;
}

// The fields of one pack, block by block.
struct Block {
  std::vector<std::byte> memory;
  physics::EnvView<S> e;

  Block(const cpu::HostModel& host, Batch& b, int first) {
    std::size_t bytes = physics::kBlockAlignment;
    for (const auto& f : host.specs()) bytes += physics::block_bytes<S>(f);
    memory.resize(bytes);
    const auto misfit = reinterpret_cast<std::uintptr_t>(memory.data()) % physics::kBlockAlignment;
    std::byte* next = memory.data() + (physics::kBlockAlignment - misfit);
    std::vector<void*> address;
    for (const auto& f : host.specs()) {
      address.push_back(next);
      fill(host, b, f, static_cast<int>(address.size()) - 1, first, next);
      next += physics::block_bytes<S>(f);
    }
    e = physics::bind<S>(address.data());
    e.active[0] = S(1.0);
  }

 private:
  static void fill(const cpu::HostModel& host, Batch& b, const cpu::FieldSpec& f, int index,
                   int first, std::byte* to) {
    const int n = f.size();
    const bool wide = f.type == FieldType::wide;
    if (f.kind == FieldKind::output || f.kind == FieldKind::scratch || n == 0) return;
    const bool param = f.kind == FieldKind::param;
    const std::vector<double>& model = host.param(static_cast<cpu::Field>(index));
    const void* dense = param ? nullptr : b.field(f.name).data;
    for (int i = 0; i < n; ++i)
      for (int lane = 0; lane < kW; ++lane) {
        const int at = (first + lane) * n + i;
        const double x = param  ? model[static_cast<std::size_t>(i)]
                         : wide ? static_cast<const double*>(dense)[at]
                                : static_cast<double>(static_cast<const float*>(dense)[at]);
        if (wide)
          reinterpret_cast<double*>(to)[i * kW + lane] = x;
        else
          reinterpret_cast<float*>(to)[i * kW + lane] = static_cast<float>(x);
      }
  }
};

struct Stage {
  const char* name;
  void (*run)(const physics::ModelView&, physics::EnvView<S>&);
  double ns = 0;
};

#define STAGE(stage)                                                                       \
  {                                                                                        \
#stage, [](const physics::ModelView& view,                                             \
               physics::EnvView <S>& e) { physics::stage(physics::TeamOfOne(), view, e); } \
  }

void measure(const std::string& path) {
  const ModelPtr m = load_model(path);
  const int packs = (setting("STICTION_BENCH_ENVS", 256) + kW - 1) / kW;
  const int steps = setting("STICTION_BENCH_STEPS", 50);
  Batch b = moving(m, packs * kW);
  const cpu::HostModel host(*m, b.options());
  std::vector<Block> blocks;
  for (int p = 0; p < packs; ++p) blocks.emplace_back(host, b, p * kW);

  std::vector<Stage> stages{STAGE(clear_flags), STAGE(kinematics),   STAGE(bias),
                            STAGE(inertia),     STAGE(actuation),    STAGE(rows),
                            STAGE(collide),     STAGE(solve),        STAGE(integrate),
                            STAGE(velocities),  STAGE(state_sensors)};
  double total = 0, iterations = 0, points = 0;
  for (int k = 0; k < steps; ++k)
    for (Block& block : blocks) {
      auto before = Clock::now();
      for (Stage& s : stages) {
        s.run(host.view(), block.e);
        const auto now = Clock::now();
        s.ns += std::chrono::duration<double, std::nano>(now - before).count();
        before = now;
      }
      for (int lane = 0; lane < kW; ++lane) {
        iterations += static_cast<double>(get_lane(block.e.solver_niter[0], lane));
        points += static_cast<double>(get_lane(block.e.ncon[0], lane));
      }
    }
  const double count = static_cast<double>(steps) * packs * kW;
  for (const Stage& s : stages) total += s.ns;
  std::printf("%s: nv %d, %d lanes, points %.2f, iterations %.2f\n", m->name.c_str(), m->nv, kW,
              points / count, iterations / count);
  std::printf("  %-16s %9.0f ns  100.0 %%\n", "step", total / count);
  for (const Stage& s : stages)
    std::printf("    %-14s %9.0f ns  %5.1f %%\n", s.name, s.ns / count, 100 * s.ns / total);
}

}  // namespace
}  // namespace stiction

int main(int argc, char** argv) try {
  for (int i = 1; i < argc; ++i) stiction::measure(argv[i]);
  return argc > 1 ? 0 : 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_stage: %s\n", e.what());
  return 1;
}
