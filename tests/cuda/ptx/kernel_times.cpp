#include "cuda/ptx/kernel_times.h"

#include <algorithm>

namespace stiction::ptx {
namespace {

constexpr int kMultiprocessors = 132, kStarts = 3;
constexpr std::uint64_t kFirstCache = 256 << 10;

// Sectors that no two blocks touch.
std::unordered_set<std::uint32_t> of_one_block(const Trace& trace) {
  std::unordered_map<std::uint32_t, int> block_of;
  for (const WarpTrace& w : trace.warps)
    for (const Executed& e : w.executed)
      for (std::uint32_t k = 0; k < e.count; ++k) {
        const auto [at, is_new] = block_of.try_emplace(trace.sectors[e.sectors + k], w.block);
        if (!is_new && at->second != w.block) at->second = -1;
      }
  std::unordered_set<std::uint32_t> own;
  for (const auto& [sector, block] : block_of)
    if (block >= 0) own.insert(sector);
  return own;
}

}  // namespace

// The shared memory of a multiprocessor comes in these sizes; the rest is first cache.
std::uint64_t first_cache(std::size_t shared) {
  for (const std::uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228})
    if (shared <= kib << 10) return kFirstCache - (kib << 10);
  return kFirstCache - (228 << 10);
}

void KernelTimes::add(const Launching& how, const Module& module, const Function& entry,
                      const LaunchSize& size, const Trace& trace, bool counts) {
  auto& code = codes_[&entry];
  if (code == nullptr) code = std::make_unique<MachineCode>(module, entry);
  const int blocks = static_cast<int>(size.blocks[0]),
            warps = static_cast<int>(size.threads + kLanes - 1) / kLanes;
  const int all = static_cast<int>(static_cast<long>(blocks) * all_ / executed_);
  const int share = std::max(1, (all + kMultiprocessors - 1) / kMultiprocessors);
  const int samples = std::max(1, blocks / share);
  Kernel& k = kernels_[how.kernel];
  double us = 0, most = 0;
  // Where blocks wait for others to leave, it matters when the longest one starts. Of all
  // multiprocessors there is one where it starts late.
  const std::unordered_set<std::uint32_t> own =
      share > blocks ? of_one_block(trace) : std::unordered_set<std::uint32_t>{};
  const int starts = share > how.resident_blocks ? kStarts : 1;
  std::vector<double>& cycles = k.cycles[&module];
  cycles.resize(module.code().size());
  for (int s = 0; s < samples; ++s) {
    TimedCache& second = second_[s];
    second.resize(kSecondCache / kMultiprocessors);
    double mine = 0;
    for (int start = 0; start < (counts ? starts : 1); ++start) {
      std::vector<MultiprocessorWarp> its;
      for (int b = 0; b < share; ++b) {
        const int of_all = s * share + (b + start * share / starts) % share,
                  block = of_all % blocks;
        for (int w = 0; w < warps; ++w)
          its.push_back(
              {&trace.warps[static_cast<std::size_t>(block * warps + w)], of_all / blocks});
      }
      Multiprocessor m(latencies_, second);
      const Timed t =
          m.run(*code, {its, warps, own, trace.sectors}, std::max(1, how.resident_blocks),
                first_cache(how.shared_bytes), counts ? &cycles : nullptr);
      mine = std::max(mine, t.cycles / latencies_.ghz * 1e-3);
      k.code = 128.0 * static_cast<double>(m.lines_of_code());
      if (!counts) continue;
      for (std::size_t what = 0; what < t.spent.size(); ++what)
        k.timed.spent[what] += t.spent[what];
      if (t.cycles > k.slowest) k.slowest = t.cycles, k.timed.last = t.last;
      k.timed.cycles += t.cycles, k.timed.issued += t.issued, k.timed.slots += t.slots;
      ++k.multiprocessors;
    }
    us += mine / samples, most = std::max(most, mine);
  }
  if (!counts) return;
  ++k.launches, k.us += us + latencies_.launch, k.us_most += most + latencies_.launch;
}

}  // namespace stiction::ptx
