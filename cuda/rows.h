// Operations on the words of rows of chosen environments: gathered into one buffer and scattered back,
// reset to the model's rows, filled with kUnwritten. Lists of rows are made on the host; the
// function of a word is shared by the kernels of transfer.cu and tests without a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "batch/device.h"
#include "cpu/layout.h"
#include "cuda/launch.h"
#include "cuda/step_status.h"

namespace stiction::cuda {

// The first `words` words of each row, `stride` words from row to row. `begin`: offset in
// the buffer, in words.
struct Transfer {
  std::uint32_t* rows;
  std::uint32_t stride, words;
  std::size_t begin;
};
inline constexpr int kTransfers = physics::kFields + kStatusArrays;
struct Transfers {
  Transfer list[kTransfers];
  int count = 0;

  void add(std::byte* rows, std::size_t stride, std::size_t bytes, std::size_t begin) {
    constexpr std::size_t kWord = sizeof(std::uint32_t);
    if (bytes > 0)
      list[count++] = {reinterpret_cast<std::uint32_t*>(rows),
                       static_cast<std::uint32_t>(stride / kWord),
                       static_cast<std::uint32_t>(bytes / kWord), begin / kWord};
  }
};

// The rows of a device: of fields, wherever they are stored, and of the status arrays.
class RowLists {
 public:
  RowLists(const cpu::FieldSpecs& specs, const DeviceLayout& layout, const FieldRows* fields,
           std::byte* memory)
      : specs_(specs), layout_(layout), fields_(fields), memory_(memory) {}

  // Rows that a reset writes (physics/base/env_status.h); `begin` counts from layout.reference_begin.
  Transfers reset() const {
    Transfers t;
    physics::for_reset_kinds([&](cpu::FieldKind kind) {
      for (int f = 0; f < cpu::kFields; ++f)
        if (is(f, kind)) add(t, f, layout_.reference[at(f)] - layout_.reference_begin);
    });
    add_status(t, layout_.reference_status - layout_.reference_begin);
    return t;
  }
  // Everything that an environment keeps between two steps.
  Transfers all() const {
    Transfers t;
    for (int f = 0; f < cpu::kFields; ++f)
      if (!is(f, cpu::FieldKind::scratch) && fields_[f].stride > 0) add(t, f, 0);
    add_status(t, 0);
    return t;
  }
  // Rows that a step, or the refresh after it, must write before it reads them: excludes those that persist between
  // the steps of a run (anchor_lists.h).
  Transfers unwritten(bool outputs) const {
    Transfers t;
    for (int f = 0; f < cpu::kFields; ++f)
      if (fields_[f].first != nullptr && !stays(static_cast<cpu::Field>(f)) &&
          (is(f, cpu::FieldKind::scratch) || (outputs && is(f, cpu::FieldKind::output))))
        add(t, f, 0);
    return t;
  }

 private:
  static constexpr bool stays(cpu::Field f) {
    return f == cpu::Field::active || f == cpu::Field::anchor_row || f == cpu::Field::nanchorrow;
  }
  static constexpr std::size_t at(int f) { return static_cast<std::size_t>(f); }
  bool is(int f, cpu::FieldKind k) const { return specs_[at(f)].kind == k; }
  void add(Transfers& t, int f, std::size_t begin) const {
    const cpu::FieldSpec& s = specs_[at(f)];
    const std::size_t number = s.type == cpu::FieldType::wide ? sizeof(double) : sizeof(float);
    t.add(fields_[f].first, fields_[f].stride, number * at(s.size()), begin);
  }
  void add_status(Transfers& t, std::size_t begin) const {
    constexpr std::size_t kWord = sizeof(std::uint32_t);
    for (std::size_t k = 0; k < kStatusArrays; ++k)
      t.add(memory_ + layout_.status[k], kWord, kWord, begin + k * kWord);
  }

  const cpu::FieldSpecs& specs_;
  const DeviceLayout& layout_;
  const FieldRows* fields_;
  std::byte* memory_;
};

// Adds the sums of the counters (launch.h) over all environments, each of which counts as its own
// pack.
inline void add_counters(const std::uint64_t* sums, SolverCounts& c) {
  c.env_steps += sums[kEnvSteps], c.pack_steps += sums[kEnvSteps];
  c.iterations += sums[kIterations], c.pack_max_iterations += sums[kIterations];
  c.linesearch_evaluations += sums[kLinesearchEvaluations];
  c.contacts += sums[kContacts];
  c.not_converged += sums[kNotConverged];
  c.stalled += sums[kStalled];
  c.inaccurate += sums[kInaccurate];
  c.late_contact += sums[kLateContact];
  c.frozen += sums[kFroze];
  c.solved_again += sums[kSolvedAgain];
  for (std::size_t i = 0; i < c.iteration_histogram.size(); ++i)
    c.iteration_histogram[i] += sums[kCounters + i];
}

// Calls f(part) for parts of the rows, each with at most `room` words for each of n
// environments: all environments at a time, so that one may be source and target. The words of a
// part are consecutive from its `begin` on.
template <class F>
void for_parts(const Transfers& all, std::size_t room, int n, const F& f) {
  Transfers part;
  std::size_t used = 0;
  for (int k = 0; k < all.count; ++k) {
    const Transfer& x = all.list[k];
    for (std::uint32_t column = 0; column < x.words;) {
      const auto taken =
          static_cast<std::uint32_t>(std::min<std::size_t>(x.words - column, room - used));
      part.list[part.count++] = {x.rows + column, x.stride, taken,
                                 used * static_cast<std::size_t>(n)};
      used += taken, column += taken;
      if (used == room) f(part), part.count = 0, used = 0;
    }
  }
  if (used > 0) f(part);
}

}  // namespace stiction::cuda

STICTION_PHYSICS_BEGIN

using cuda::Transfer;

// Functions of a word of environment env, word i of its transfer.
struct Gather {
  std::uint32_t* to;
  STICTION_FN void operator()(std::uint32_t& word, const Transfer& x, int, std::size_t i) const {
    to[x.begin + i] = word;
  }
};
struct Scatter {
  const std::uint32_t* from;
  STICTION_FN void operator()(std::uint32_t& word, const Transfer& x, int, std::size_t i) const {
    word = from[x.begin + i];
  }
};
// The same row for all environments.
struct Repeat {
  const std::uint32_t* row;
  STICTION_FN void operator()(std::uint32_t& word, const Transfer& x, int, std::size_t i) const {
    word = row[x.begin + i % x.words];
  }
};
// Writes kUnwritten in environments for which this step, or the refresh after it, recomputes the
// number.
struct FillUnwritten {
  Launch l;
  bool decided;  // a step has begun and decided whose outputs are stored
  STICTION_FN void operator()(std::uint32_t& word, const Transfer&, int env, std::size_t) const {
    const bool chosen = l.chosen == nullptr || l.chosen[env] != 0;
    const bool stored = decided ? l.records.store[env] != 0
                                : chosen && (l.store_frozen || !is_frozen(l.records, env));
    if (stored) word = cpu::kUnwritten;
  }
};

// Calls f for words begin, begin + step, ... of the environments ids[first] ... ids[first + n - 1], or first ...
// first + n - 1 if ids is null.
template <class F>
STICTION_FN void for_words(const Transfer& x, const int* ids, int first, int n, std::size_t begin,
                           std::size_t step, const F& f) {
  const std::size_t words = std::size_t{x.words} * static_cast<std::size_t>(n);
  for (std::size_t i = begin; i < words; i += step) {
    const int k = first + static_cast<int>(i / x.words), env = ids != nullptr ? ids[k] : k;
    f(x.rows[static_cast<std::size_t>(env) * x.stride + i % x.words], x, env, i);
  }
}

STICTION_PHYSICS_END
