// The order of a basic block's instructions: that of a list scheduler, as ptxas has one. Each cycle it takes, of
// the next kWindow instructions, one whose operands are there, of these the one with the longest way to the end
// of the block; so loads come early. A load does not pass a store, nor a store anything, that may touch
// the same bytes; nothing passes a barrier of the warp, or a shuffle another one. The window stands for
// the registers that there are.
#include <algorithm>
#include <array>

#include "cuda/ptx/costs.h"

namespace stiction::ptx {
namespace {

constexpr int kWindow = 32;
constexpr float kLoad = 9, kSharedLoad = 7, kCycle = 0.25f;  // in latencies of arithmetic

bool is_memory(const Instruction& i) {
  return i.kind == Kind::load || i.kind == Kind::store;
}
bool may_touch_the_same(const Instruction& a, const Instruction& b) {
  if (a.space != b.space && a.space != Space::generic && b.space != Space::generic) return false;
  if (a.space == Space::param || b.space == Space::param) return false;
  if (a.from[0] != b.from[0] || a.space != b.space) return true;
  const std::uint64_t a_end = a.offset + std::uint64_t{a.bytes} * a.count,
                      b_end = b.offset + std::uint64_t{b.bytes} * b.count;
  return a.offset < b_end && b.offset < a_end;
}

}  // namespace

void MachineCode::order_block(int begin, int end) {
  const int n = end - begin;
  std::vector<std::vector<int>> after(static_cast<std::size_t>(n));  // who waits
  std::vector<std::vector<bool>> by_result(static_cast<std::size_t>(n));
  std::vector<int> waits_for(static_cast<std::size_t>(n), 0);
  const auto of = [&](int k) -> const Instruction& {
    return module_->code()[static_cast<std::size_t>(begin + k)];
  };
  const auto depends = [&](int k, int on, bool result) {
    after[static_cast<std::size_t>(on)].push_back(k);
    by_result[static_cast<std::size_t>(on)].push_back(result);
    ++waits_for[static_cast<std::size_t>(k)];
  };
  std::unordered_map<int, int> writer;
  std::unordered_map<int, std::vector<int>> readers;
  std::vector<int> memory;
  int barrier = -1, meeting = -1;
  for (int k = 0; k < n; ++k) {
    const Instruction& i = of(k);
    for_sources(i, [&](int r) {
      if (const auto w = writer.find(r); w != writer.end()) depends(k, w->second, true);
      readers[r].push_back(k);
    });
    for_results(i, [&](int r) {
      if (const auto w = writer.find(r); w != writer.end() && w->second != k)
        depends(k, w->second, false);
      for (const int reader : readers[r])
        if (reader != k) depends(k, reader, false);
      readers[r].clear();
      writer[r] = k;
    });
    if (is_memory(i)) {
      for (const int m : memory)
        if ((i.kind == Kind::store || of(m).kind == Kind::store) && may_touch_the_same(i, of(m)))
          depends(k, m, false);
      if (barrier >= 0) depends(k, barrier, false);
      memory.push_back(k);
    }
    if (i.kind == Kind::warp_sync) {
      if (meeting >= 0) depends(k, meeting, false);
      meeting = k;
      if (costs_[static_cast<std::size_t>(begin + k)].unit == Unit::warp_barrier) {
        for (const int m : memory) depends(k, m, false);
        memory.clear();
        barrier = k;
      }
    }
  }
  // the last one ends the block
  if (const Kind last = of(n - 1).kind;
      last == Kind::branch || last == Kind::leave || last == Kind::call || last == Kind::block_sync)
    for (int k = 0; k < n - 1; ++k) depends(n - 1, k, false);

  const auto latency = [&](int k) {
    const Cost& c = costs_[static_cast<std::size_t>(begin + k)];
    if (of(k).kind == Kind::load && c.issues > 0)
      return c.unit == Unit::shared ? kSharedLoad : kLoad;
    return c.latencies;
  };
  std::vector<float> way(static_cast<std::size_t>(n), 0), ready(static_cast<std::size_t>(n), 0);
  for (int k = n - 1; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    for (std::size_t j = 0; j < after[at].size(); ++j)
      way[at] = std::max(way[at], way[static_cast<std::size_t>(after[at][j])] +
                                      (by_result[at][j] ? latency(k) : 0));
  }
  // the cycle from which a unit is free, as there
  std::array<float, 16> unit_free{};
  const auto unit = [&](int k) -> float& {
    return unit_free[static_cast<std::size_t>(costs_[static_cast<std::size_t>(begin + k)].unit)];
  };
  std::vector<bool> done(static_cast<std::size_t>(n), false);
  float now = 0;
  int first = 0;
  for (int placed = 0; placed < n; ++placed) {
    while (done[static_cast<std::size_t>(first)]) ++first;
    int best = -1;
    for (int k = first, seen = 0; k < n && seen < kWindow; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (done[at]) continue;
      ++seen;
      if (waits_for[at] > 0) continue;
      if (best < 0) {
        best = k;
        continue;
      }
      const auto b = static_cast<std::size_t>(best);
      const float mine = std::max({ready[at], now, unit(k)}),
                  its = std::max({ready[b], now, unit(best)});
      if (mine < its || (mine == its && way[at] > way[b])) best = k;
    }
    const auto b = static_cast<std::size_t>(best);
    order_[static_cast<std::size_t>(begin + placed)] = begin + best;
    done[b] = true;
    const Cost& c = costs_[static_cast<std::size_t>(begin + best)];
    now = std::max({now, ready[b], unit(best)});
    unit(best) = now + kCycle * static_cast<float>(c.unit == Unit::special ? 8
                                                   : c.unit == Unit::integer || c.unit == Unit::wide
                                                       ? 2 * c.issues
                                                       : c.issues);
    now += kCycle * static_cast<float>(c.issues);
    for (std::size_t j = 0; j < after[b].size(); ++j) {
      const auto a = static_cast<std::size_t>(after[b][j]);
      --waits_for[a];
      if (by_result[b][j]) ready[a] = std::max(ready[a], now + latency(best));
    }
  }
}

}  // namespace stiction::ptx
