#include "cuda/ptx/multiprocessor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace stiction::ptx {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kFetchLine = 8;  // instructions of 16 bytes in 128
constexpr std::size_t kFetched = (128 << 10) / 128;
constexpr double kQueue = 24;  // cycles of requests that wait in front of the first cache
constexpr double kWave = 2;    // more for each further wave of shared memory

Spent waited_for(Unit u) {
  switch (u) {
    case Unit::special: return Spent::special;
    case Unit::shuffle:
    case Unit::vote: return Spent::shuffle;
    default: return Spent::arithmetic;
  }
}

}  // namespace

double* TimedCache::find(std::uint32_t sector, bool store, int& changed) {
  const auto bit = static_cast<std::uint8_t>(1u << (sector % 4));
  auto found = find_.find(sector / 4);
  if (found == find_.end()) {
    if (lines_.size() >= lines_most_ && !lines_.empty()) {
      changed += std::popcount(lines_.back().changed);
      find_.erase(lines_.back().number);
      lines_.pop_back();
    }
    lines_.push_front({sector / 4});
    found = find_.emplace(sector / 4, lines_.begin()).first;
  } else {
    lines_.splice(lines_.begin(), lines_, found->second);
  }
  Line& line = lines_.front();
  const bool there = (line.there & bit) != 0;
  line.there |= bit;
  if (store) line.changed |= bit;
  double& at = line.at[sector % 4];
  if (!there) at = -1;
  return &at;
}

void TimedCache::restart() {
  for (Line& l : lines_) l.at.fill(0);
}

// A warp on its way.
struct Multiprocessor::Running {
  const WarpTrace* trace;
  int block, scheduler, copy = 0;
  std::vector<int> order;  // of trace->executed, as the machine executes them
  std::size_t at = 0;
  double last = 0;  // when the last one issued
  double next = 0;  // not before this: operands, instructions
  Spent why = Spent::branch;
  double free_from = 0;  // of the branch or barrier before
  Spent after = Spent::branch;
  bool waits = false;  // at a barrier
  std::vector<double> ready;
  std::vector<Spent> by;
  std::array<double, kSpent> spent{};

  const Executed& executed() const { return trace->executed[static_cast<std::size_t>(order[at])]; }
};

namespace {

// The machine's order of what was executed: in each run through a basic block, or a part of one, that of the block.
std::vector<int> machine_order(const MachineCode& code, const std::vector<Executed>& all) {
  std::vector<int> order;
  order.reserve(all.size());
  for (std::size_t k = 0; k < all.size();) {
    const int first = all[k].instruction, begin = code.begin(first), end = code.end(first);
    std::size_t n = 1;
    while (k + n < all.size() && all[k + n].instruction == first + static_cast<int>(n) &&
           first + static_cast<int>(n) < end)
      ++n;
    for (int p = begin; p < end; ++p) {
      const int i = code.order()[static_cast<std::size_t>(p)];
      if (i >= first && i < first + static_cast<int>(n))
        order.push_back(static_cast<int>(k) + i - first);
    }
    k += n;
  }
  return order;
}

}  // namespace

double& Multiprocessor::line_of_code(std::uint32_t line) {
  auto found = find_code_.find(line);
  if (found == find_code_.end()) {
    if (fetched_.size() >= kFetched) {
      find_code_.erase(fetched_.back().number);
      fetched_.pop_back();
    }
    fetched_.push_front({line});
    found = find_code_.emplace(line, fetched_.begin()).first;
    code_lines_.insert(line);
  } else {
    fetched_.splice(fetched_.begin(), fetched_, found->second);
  }
  return found->second->at;
}

// To the next instruction of the machine, and when it may issue. False: the warp has left.
bool Multiprocessor::advance(Running& w) {
  const auto& all = code_->module().code();
  for (; w.at < w.order.size(); ++w.at) {
    const Executed& e = w.executed();
    const Instruction& i = all[static_cast<std::size_t>(e.instruction)];
    const Cost& c = code_->cost(e.instruction);
    double ready = 0;
    Spent by = Spent::arithmetic;
    for_sources(i, [&](int r) {
      const auto at = static_cast<std::size_t>(r);
      if (w.ready[at] > ready) ready = w.ready[at], by = w.by[at];
    });
    if (c.issues == 0) {
      for_results(i, [&](int r) {
        w.ready[static_cast<std::size_t>(r)] = ready, w.by[static_cast<std::size_t>(r)] = by;
      });
      continue;
    }
    w.next = w.last, w.why = by;
    if (w.free_from > w.next) w.next = w.free_from, w.why = w.after;
    double& there = line_of_code(c.address / kFetchLine);
    if (there < 0) there = w.next + l_.fetch;
    if (there > w.next) w.next = there, w.why = Spent::fetch;
    if (ready > w.next) w.next = ready, w.why = by;
    return true;
  }
  return false;
}

double Multiprocessor::unit_free(const Running& w) const {
  const Scheduler& s = schedulers_[static_cast<std::size_t>(w.scheduler)];
  switch (code_->cost(w.executed().instruction).unit) {
    case Unit::integer: return s.integer;
    case Unit::single: return s.single;
    case Unit::wide: return s.wide;
    case Unit::special: return s.special;
    case Unit::shared:
    case Unit::global:
    case Unit::shuffle: return way_ - kQueue;
    default: return 0;
  }
}

// Loads come by the first cache; stores go through it to the second one, and nobody waits for them.
Multiprocessor::Access Multiprocessor::access(const Executed& e, const Instruction& i, double now,
                                              int copy) {
  // sectors of 32 bytes per cycle that a multiprocessor gets where all ask
  constexpr double kPerTb = 1e12 / (132 * 1e9 * 32);
  const double of_second = l_.second_cache_tb * kPerTb / l_.ghz,
               of_memory = l_.memory_tb * kPerTb / l_.ghz;
  const bool store = i.kind == Kind::store;
  const double start = std::max(now, way_);
  Access a{start + l_.first_cache, Spent::first_cache};
  double takes = 1;
  if (e.waves > 0) {
    a = {start + l_.shared + kWave * (e.waves - 1), Spent::shared};
    takes = e.waves;
  }
  if (e.count > 0) takes = std::max(takes, std::ceil(e.count / 4.0));
  way_ = start + takes;
  const auto later = [&](double ready, Spent where) {
    if (ready > a.ready) a = {ready, where};
  };
  for (std::uint32_t k = 0; k < e.count; ++k) {
    const std::uint32_t sector = moved(share_->sectors[e.sectors + k], copy);
    int none = 0, back = 0;
    double& here = *first_.find(sector, false, none);
    if (here >= 0 && !store) {
      later(here, Spent::second_cache);
      continue;
    }
    second_way_ = std::max(second_way_, start) + 1 / of_second;
    double arrives = second_way_ - 1 / of_second + l_.second_cache;
    Spent where = Spent::second_cache;
    double& there = *second_.find(sector, store, back);
    if (there < 0 && !store) {
      memory_way_ = std::max(memory_way_, start) + 1 / of_memory;
      there = memory_way_ - 1 / of_memory + l_.memory;
    }
    if (there < 0) there = 0;
    memory_way_ += back / of_memory;
    if (there > arrives) arrives = there, where = Spent::memory;
    if (here < 0) here = store ? start : arrives;
    if (!store) later(arrives, where);
  }
  return a;
}

void Multiprocessor::issue(Running& w, double now) {
  Scheduler& s = schedulers_[static_cast<std::size_t>(w.scheduler)];
  const Executed& e = w.executed();
  const Instruction& i = code_->module().code()[static_cast<std::size_t>(e.instruction)];
  const Cost& c = code_->cost(e.instruction);
  const double issues = c.issues * l_.more;
  // parts of a cycle add up
  const auto take = [&](double& free, double cycles) { free = std::max(free, now) + cycles; };
  take(s.slot, issues);
  Access result{now + std::max(1.0, double{c.latencies} * l_.arithmetic), waited_for(c.unit)};
  take(w.last, issues);
  switch (c.unit) {
    case Unit::integer: take(s.integer, 2 * issues); break;
    case Unit::single: take(s.single, issues); break;
    case Unit::wide: take(s.wide, 2 * issues); break;
    case Unit::special: take(s.special, 8); break;
    case Unit::shuffle: way_ = std::max(now, way_) + 1; break;
    case Unit::shared:
    case Unit::global: result = access(e, i, now, w.copy); break;
    case Unit::branch: {
      // one that is not taken is followed by the next instruction
      const bool more = w.at + 1 < w.order.size();
      if (more && w.trace->executed[static_cast<std::size_t>(w.order[w.at + 1])].instruction !=
                      e.instruction + 1)
        w.free_from = now + l_.taken, w.after = Spent::branch;
      break;
    }
    case Unit::warp_barrier: w.free_from = now + 2 * l_.arithmetic, w.after = Spent::barrier; break;
    case Unit::block_barrier: w.waits = true; break;
    case Unit::none:
    case Unit::vote: break;
  }
  for_results(i, [&](int r) {
    w.ready[static_cast<std::size_t>(r)] = result.ready,
    w.by[static_cast<std::size_t>(r)] = result.where;
  });
  ++w.at;
}

Timed Multiprocessor::run(const MachineCode& code, const Share& share, int resident_blocks,
                          std::uint64_t first_cache, std::vector<double>* cycles) {
  code_ = &code, share_ = &share;
  first_.clear(), first_.resize(first_cache), second_.restart();
  fetched_.clear(), find_code_.clear(), code_lines_.clear(), schedulers_ = {},
                                                             way_ = second_way_ = memory_way_ = 0;
  std::vector<Running> running;
  std::vector<int> residents(4, 0);
  std::size_t next_warp = 0;
  int next_block = 0;
  Timed timed;
  double now = 0;
  const auto start_blocks = [&] {
    while (next_warp < share.warps.size() &&
           static_cast<int>(running.size()) + share.warps_of_block <=
               resident_blocks * share.warps_of_block) {
      for (int k = 0; k < share.warps_of_block && next_warp < share.warps.size(); ++k) {
        Running w;
        const MultiprocessorWarp& of = share.warps[next_warp++];
        w.copy = of.copy, w.trace = of.trace, w.block = next_block;
        w.scheduler = static_cast<int>(std::min_element(residents.begin(), residents.end()) -
                                       residents.begin());
        ++residents[static_cast<std::size_t>(w.scheduler)];
        w.order = machine_order(code, w.trace->executed);
        w.ready.assign(static_cast<std::size_t>(code.rows()), 0);
        w.by.assign(static_cast<std::size_t>(code.rows()), Spent::arithmetic);
        w.last = now;
        if (advance(w)) running.push_back(std::move(w));
      }
      ++next_block;
    }
  };
  const auto spend = [&](Running& w, const Executed& e, Spent what, double n) {
    timed.spent[static_cast<std::size_t>(what)] += n;
    w.spent[static_cast<std::size_t>(what)] += n;
    if (cycles != nullptr) (*cycles)[static_cast<std::size_t>(e.instruction)] += n;
  };
  // Warps of a block that have all arrived go on; those that have left are not waited for.
  const auto meet = [&](int block) {
    for (const Running& w : running)
      if (w.block == block && !w.waits) return;
    for (Running& w : running)
      if (w.block == block) {
        w.waits = false, w.free_from = now + 5 * l_.arithmetic, w.after = Spent::barrier;
        advance(w);
      }
  };
  start_blocks();
  while (!running.empty()) {
    double soonest = kNever;
    for (std::size_t k = 0; k < running.size();) {
      Running& w = running[k];
      Scheduler& s = schedulers_[static_cast<std::size_t>(w.scheduler)];
      double can = kNever;
      if (!w.waits) can = std::floor(std::max({w.next, s.slot, unit_free(w)}));
      if (can > now) {
        soonest = std::min(soonest, std::max(can, now + 1));
        ++k;
        continue;
      }
      // where the time since the last one went
      const Executed e = w.executed();
      const double since = w.last, unit = std::max(since, unit_free(w)),
                   waited = std::max(0.0, w.next - since),
                   busy = std::clamp(unit - w.next, 0.0, std::max(0.0, now - w.next));
      const double issues = code.cost(e.instruction).issues * l_.more;
      spend(w, e, w.why, waited), spend(w, e, Spent::unit, busy);
      spend(w, e, Spent::slot, std::max(0.0, now - since - waited - busy));
      spend(w, e, Spent::issued, issues);
      timed.issued += issues;
      issue(w, now);
      soonest = std::min(soonest, now + 1);
      if (w.waits) {
        meet(w.block);
        ++k;
        continue;
      }
      if (advance(w)) {
        ++k;
        continue;
      }
      --residents[static_cast<std::size_t>(w.scheduler)];
      const int left = w.block;
      timed.last = w.spent;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
      meet(left);
      start_blocks();
    }
    if (soonest == kNever) break;
    now = std::max(now + 1, std::ceil(soonest));
  }
  timed.cycles = now, timed.slots = 4 * now;
  return timed;
}

}  // namespace stiction::ptx
