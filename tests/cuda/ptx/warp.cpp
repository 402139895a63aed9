#include "cuda/ptx/warp.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sstream>

#include "cuda/ptx/counter.h"

namespace stiction::ptx {
namespace {

std::string hex(std::uint64_t n) {
  std::ostringstream text;
  text << std::hex << n;
  return text.str();
}

template <class F>
void each(Lanes lanes, const F& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

}  // namespace

Warp::Warp(const Block& of, int n, std::uint32_t* rows, Lanes* unwritten_rows, std::byte* memory,
           Mark* marks, std::uint32_t local_bytes, Lanes lanes)
    : block(&of),
      number(n),
      registers(rows),
      unwritten(unwritten_rows),
      code_(of.module->code()),
      alive_(lanes) {
  for (std::uint32_t l = 0; l < kLanes; ++l)
    local[l] = {memory + l * local_bytes, marks + l * (local_bytes / 4), local_bytes};
  if (of.counter != nullptr) {
    executed_ = of.counter->executed(*of.module).data();
    trace_ = of.counter->trace_warp(of.index[0]);
  }
  go(0, of.entry->begin, lanes);
}

void Warp::fail(const Instruction& i, int lane, const std::string& what) const {
  std::ostringstream text;
  text << what << " in block " << block->index[0] << ", warp " << number << ", lane " << lane
       << ", at line " << i.line << " of the PTX: " << block->module->line(i.line) << " ("
       << block->entry->name << ")";
  throw Fault(text.str());
}

void Warp::fail_apart() const {
  std::ostringstream text;
  text << "lanes wait for each other for ever in block " << block->index[0] << ", warp " << number;
  for (const Group& g : groups_) {
    const int line = code_[static_cast<std::size_t>(g.pc)].line;
    text << "; lanes " << hex(g.lanes) << " at line " << line << ": " << block->module->line(line);
  }
  throw Fault(text.str() + " (" + block->entry->name + ")");
}

void Warp::go(int depth, int pc, Lanes lanes) {
  if (lanes == 0) return;
  for (Group& g : groups_)
    if (g.depth == depth && g.pc == pc && !g.waits) {
      g.lanes |= lanes;
      return;
    }
  groups_.push_back({depth, pc, lanes, false});
}

// False: nobody can go on.
bool Warp::next_group() {
  const auto best =
      std::min_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
        if (a.waits != b.waits) return b.waits;
        return a.depth != b.depth ? a.depth > b.depth : a.pc < b.pc;
      });
  if (best == groups_.end() || best->waits) return false;
  now_ = *best;
  groups_.erase(best);
  limit_ = std::numeric_limits<int>::max();
  for (const Group& g : groups_) {
    if (g.waits) continue;
    if (g.depth == now_.depth) limit_ = std::min(limit_, g.pc);
  }
  return true;
}

Warp::Stop Warp::run() {
  while (true) {
    if (next_group()) {
      run_group();
      continue;
    }
    if (groups_.empty()) return Stop::left;
    // some that were waited for may have left
    bool released = false;
    for (std::size_t k = 0; k < groups_.size() && !released; ++k) {
      const Instruction& i = code_[static_cast<std::size_t>(groups_[k].pc)];
      if (i.kind != Kind::warp_sync) continue;
      Lanes all = 0;
      for (const Group& g : groups_)
        if (g.pc == groups_[k].pc && g.waits) all |= g.lanes;
      each(groups_[k].lanes, [&](int l) { released = released || (members(i, l) & ~all) == 0; });
      if (released) groups_[k].waits = false;
    }
    if (released) continue;
    for (const Group& g : groups_) {
      if (g.pc != groups_[0].pc || code_[static_cast<std::size_t>(g.pc)].kind != Kind::block_sync)
        fail_apart();
    }
    return Stop::at_barrier;
  }
}

void Warp::pass_barrier() {
  for (Group& g : groups_) ++g.pc, g.waits = false;
}

// Of the lanes of the mask, those that have not left.
Lanes Warp::members(const Instruction& i, int lane) {
  const int at = i.from[3] >= 0 ? 3 : i.from[1] >= 0 ? 1 : 0;
  return row<Lanes>(i.from[at])[lane] & alive_;
}

// Those of `lanes`, and of others that wait here, whose masks are complete go on: they become `lanes`.
bool Warp::synchronize(const Instruction& i, Lanes& lanes) {
  Lanes here = lanes;
  for (const Group& g : groups_)
    if (g.waits && g.pc == now_.pc && g.depth == now_.depth) here |= g.lanes;
  Lanes ready = 0;
  if (here == alive_) {
    ready = here;
  } else {
    each(here, [&](int l) {
      if ((members(i, l) & ~here) == 0) ready |= Lanes{1} << l;
    });
  }
  if (members(i, std::countr_zero(here)) != alive_)
    each(ready, [&](int l) {
      if ((members(i, l) >> l & 1) == 0) fail(i, l, "a lane is not in the mask that it waits for");
    });
  std::erase_if(
      groups_, [&](const Group& g) { return g.waits && g.pc == now_.pc && g.depth == now_.depth; });
  if (const Lanes rest = here & ~ready; rest != 0)
    groups_.push_back({now_.depth, now_.pc, rest, true});
  lanes = ready;
  return ready != 0;
}

void Warp::run_group() {
  while (true) {
    if (now_.pc >= limit_) return go(now_.depth, now_.pc, now_.lanes);
    const Instruction& i = code_[static_cast<std::size_t>(now_.pc)];
    Lanes act = now_.lanes;
    if (i.predicate >= 0) {
      if ((unwritten[i.predicate] & act) != 0)
        fail(i, std::countr_zero(unwritten[i.predicate] & act), "memory that nobody wrote decides");
      const Lanes value = registers[static_cast<std::ptrdiff_t>(i.predicate) * kLanes];
      act &= i.negated ? ~value : value;
    }
    if (i.kind == Kind::warp_sync) {
      if (act != now_.lanes) fail(i, std::countr_zero(now_.lanes), "a predicate at a barrier");
      if (!synchronize(i, now_.lanes)) return;
      act = now_.lanes;
    }
    ++instructions, lane_instructions += static_cast<unsigned>(std::popcount(act));
    if (executed_ != nullptr) ++executed_[now_.pc];
    if (trace_ != nullptr) {
      trace_->executed.push_back({now_.pc});
      block->counter->trace_access_of(trace_->executed.back());
    }
    switch (i.kind) {
      case Kind::plain:
      case Kind::load:
      case Kind::store:
      case Kind::warp_sync:
        active = act;
        if (act != 0) i.execute(*this, i);
        ++now_.pc;
        continue;
      case Kind::branch:
        if (act == now_.lanes && i.target <= limit_) {
          now_.pc = i.target;
          continue;
        }
        if (act == 0) {
          ++now_.pc;
          continue;
        }
        if (act != now_.lanes) ++splits;
        go(now_.depth, i.target, act);
        return go(now_.depth, now_.pc + 1, now_.lanes & ~act);
      case Kind::leave: return leave(act);
      case Kind::call: return call(i);
      case Kind::block_sync: groups_.push_back({now_.depth, now_.pc, now_.lanes, true}); return;
    }
  }
}

void Warp::leave(Lanes leaving) {
  go(now_.depth, now_.pc + 1, now_.lanes & ~leaving);
  if (now_.depth == 0) {
    alive_ &= ~leaving;
    return;
  }
  const auto& from = callers_[static_cast<std::size_t>(now_.depth - 1)];
  while (leaving != 0) {
    const int at = from[static_cast<std::size_t>(std::countr_zero(leaving))];
    Lanes together = 0;
    each(leaving, [&](int l) {
      if (from[static_cast<std::size_t>(l)] == at) together |= Lanes{1} << l;
    });
    const Instruction& i = code_[static_cast<std::size_t>(at)];
    copy_local(block->module->calls()[static_cast<std::size_t>(i.call)].results, together);
    go(now_.depth - 1, at + 1, together);
    leaving &= ~together;
  }
}

void Warp::call(const Instruction& i) {
  constexpr int kDeepest = 16;
  if (i.predicate >= 0) fail(i, 0, "a call under a predicate");
  if (now_.depth == kDeepest) fail(i, 0, "calls in calls, too deep");
  const auto depth = static_cast<std::size_t>(now_.depth);
  if (callers_.size() <= depth) callers_.resize(depth + 1);
  each(now_.lanes, [&](int l) { callers_[depth][static_cast<std::size_t>(l)] = now_.pc; });
  const Call& c = block->module->calls()[static_cast<std::size_t>(i.call)];
  copy_local(c.arguments, now_.lanes);
  go(now_.depth + 1, block->module->function(c.function).begin, now_.lanes);
}

void Warp::copy_local(const std::vector<Copy>& list, Lanes lanes) const {
  for (const Copy& c : list)
    each(lanes, [&](int l) {
      const Region& r = local[static_cast<std::size_t>(l)];
      std::memcpy(r.data + c.to, r.data + c.from, c.bytes);
      r.copy_marks(c.to, c.from, c.bytes);
    });
}

}  // namespace stiction::ptx
