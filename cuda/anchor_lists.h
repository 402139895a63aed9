// The rows of `anchor` that may be nonzero, so that a step clears only these: a hand has thousands of slots and
// touches with a few. The first step of a run examines all numbers, since others may have written some between two
// runs; every step lists the rows that it writes.
//
// writes  anchor_row, nanchorrow: a row may occur twice; more rows than nanchorrowlist stand for all rows, also if
//         there is no list, for models with few slots
#pragma once

#include "cuda/group_team.h"
#include "physics/contact/anchors.h"

STICTION_PHYSICS_BEGIN

STICTION_FN bool has_bits(float x) {
  return __builtin_bit_cast(std::uint32_t, x) != 0;  // -0 counts as nonzero
}
STICTION_FN std::uint32_t all_bits(const Quad& q) {
  const auto word = [](float x) { return __builtin_bit_cast(std::uint32_t, x); };
  return word(q.x) | word(q.y) | word(q.z) | word(q.w);
}
STICTION_FN bool finite(const Quad& q) {
  return is_finite(q.x) && is_finite(q.y) && is_finite(q.z) && is_finite(q.w);
}

// Lists the nonzero rows; returns whether this thread has seen a non-finite number. A single thread lists nothing.
template <class Group, class S>
STICTION_FN bool list_anchors(const GroupTeam<Group>& team, const ModelView& m,
                              const EnvView<S>& e) {
  const S* const x = e.anchor;
  const int numbers = 3 * m.nanchor, size = team.group().size(), rank = team.group().rank();
  if (numbers == 0) return false;
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(x) / sizeof(float) % 4);
  const int before = beyond == 0 ? 0 : 4 - beyond;
  const int quads = numbers > before ? (numbers - before) / 4 : 0;
  const Quad* const first = reinterpret_cast<const Quad*>(x + before);
  bool infinite = false;
  if (m.nanchorrowlist == 0) {
    team.each_own(quads, [&](int i) { infinite |= !finite(first[i]); });
    team.each_own(numbers - 4 * quads,
                  [&](int k) { infinite |= !is_finite(x[k < before ? k : 4 * quads + k]); });
    return infinite;
  }
  int* const list = e.anchor_row;
  int count = 0;
  // In threads where `mine` is true: appends `rows` rows from `row` on.
  const auto put = [&](bool mine, int row, int rows) {
    const PrefixSum sum = team.group().prefix_sum(mine);
    const int place = count + rows * sum.before;
    for (int k = 0; k < rows; ++k)
      if (mine && place + k < m.nanchorrowlist) list[place + k] = row + k;
    count += rows * sum.total;
  };
  // After a vote lists the nonzero ones of `each` quads per thread from quad `begin` on; `bits`: the or of their bits.
  const auto look = [&](int begin, int each, std::uint32_t bits) {
    if (!team.any(bits != 0)) return;
    STICTION_ROLLED
    for (int k = 0; k < each; ++k) {
      const int i = begin + k * size + rank;
      const bool some = i < quads && all_bits(first[i]) != 0;
      if (some) infinite = infinite || !finite(first[i]);
      put(some, (before + 4 * i) / 3, 2);  // four numbers span two rows
    }
  };
  constexpr int kTogether = 8;
  int begin = 0;
  STICTION_ROLLED
  for (; begin + kTogether * size <= quads; begin += kTogether * size) {
    std::uint32_t bits = 0;
    STICTION_UNROLLED
    for (int k = 0; k < kTogether; ++k) bits |= all_bits(first[begin + k * size + rank]);
    look(begin, kTogether, bits);
  }
  STICTION_ROLLED
  for (; begin < quads; begin += size)
    look(begin, 1, begin + rank < quads ? all_bits(first[begin + rank]) : 0);
  // the numbers before and behind the quads
  const int rest = numbers - 4 * quads;
  STICTION_ROLLED
  for (int from = 0; from < rest; from += size) {
    const int k = from + rank, number = k < before ? k : 4 * quads + k;
    const bool some = k < rest && has_bits(x[number]);
    if (some) infinite = infinite || !is_finite(x[number]);
    put(some, number / 3, 1);
  }
  team.once([&] { e.nanchorrow[0] = count; });
  return infinite;
}

template <SerialTeam Team, class S>
STICTION_FN bool list_anchors(const Team&, const ModelView& m, const EnvView<S>& e) {
  bool infinite = false;
  for (int k = 0; k < 3 * m.nanchor; ++k) infinite = infinite || !is_finite(e.anchor[k]);
  return infinite;
}

// Clears the listed rows; the rows that the step writes become the next list.
template <class Group, class S>
STICTION_FN void clear_anchors(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                               bool moves) {
  if (moves && m.nanchor > 0) {
    const int npoint = e.npoint[0];
    const bool listed = m.nanchorrowlist > 0 && e.nanchorrow[0] <= m.nanchorrowlist;
    team.for_each(listed ? e.nanchorrow[0] : m.nanchor,
                  [&](int k) { store3(e.anchor, listed ? e.anchor_row[k] : k, zero3<S>()); });
    if (m.nanchorrowlist == 0) return;
    team.each_own(npoint, [&](int p) {
      const int slot = e.point_slot[p];
      e.anchor_row[p] = slot;
      if (m.ncouple > 0 && npoint + p < m.nanchorrowlist) e.anchor_row[npoint + p] = m.nslot + slot;
    });
    team.once([&] { e.nanchorrow[0] = m.ncouple > 0 ? 2 * npoint : npoint; });
  }
  team.sync();
}

STICTION_PHYSICS_END
