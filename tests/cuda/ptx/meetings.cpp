// What the lanes of a warp do together: shuffles, votes, barriers. The warp has waited for all of them.
#include "cuda/ptx/lanes.h"
#include "cuda/ptx/operations.h"
#include "cuda/ptx/races.h"

namespace stiction::ptx {
namespace {

enum class Shuffle { idx, bfly, up, down };

// PTX ISA, shfl.sync: c has the lanes of a segment in bits 8 to 12 and the clamp in bits 0 to 4.
template <Shuffle mode>
void shuffle(Warp& w, const Instruction& i) {
  const std::uint32_t* const a = w.row<std::uint32_t>(i.from[0]);
  const std::uint32_t* const b = w.row<std::uint32_t>(i.from[1]);
  const std::uint32_t* const c = w.row<std::uint32_t>(i.from[2]);
  std::uint32_t value[kLanes] = {};
  Lanes inside = 0, from_unwritten = 0;
  if ((unwritten_sources(w, i) & ~w.unwritten_in(i.from[0]) & w.active) != 0)
    w.fail(i, 0, "memory that nobody wrote decides on a lane");
  for (int l = 0; l < kLanes; ++l) {
    if ((w.active >> l & 1) == 0) continue;
    const int by = static_cast<int>(b[l] & 31), clamp = static_cast<int>(c[l] & 31),
              segment = static_cast<int>(c[l] >> 8 & 31);
    const int first = l & segment, last = first | (clamp & ~segment);
    int from = l;
    bool valid = true;
    switch (mode) {
      case Shuffle::idx: from = first | (by & ~segment), valid = from <= last; break;
      case Shuffle::bfly: from = l ^ by, valid = from <= last; break;
      case Shuffle::up: from = l - by, valid = from >= last; break;
      case Shuffle::down: from = l + by, valid = from <= last; break;
    }
    if (!valid) from = l;
    if ((w.active >> from & 1) == 0) w.fail(i, l, "a shuffle reads from a lane that is not there");
    value[l] = a[from];
    if (valid) inside |= Lanes{1} << l;
    if ((w.unwritten_in(i.from[0]) >> from & 1) != 0) from_unwritten |= Lanes{1} << l;
  }
  std::uint32_t* const d = w.row<std::uint32_t>(i.to);
  for (int l = 0; l < kLanes; ++l)
    if ((w.active >> l & 1) != 0) d[l] = value[l];
  w.depends(i.to, from_unwritten);
  if (i.to_predicate >= 0) write_predicate(w, i.to_predicate, inside), w.depends(i.to_predicate, 0);
}

// Of the lanes in the mask of each lane.
void ballot(Warp& w, const Instruction& i) {
  const Lanes yes = predicate(w, i.from[0]) & w.active;
  const Lanes unknown = w.unwritten_in(i.from[0]) & w.active;
  const Lanes* const members = w.row<Lanes>(i.from[1]);
  Lanes* const d = w.row<Lanes>(i.to);
  for (int l = 0; l < kLanes; ++l)
    if ((w.active >> l & 1) != 0) d[l] = yes & members[l];
  w.depends(i.to, unknown != 0 ? kAll : 0);
}

// Only this orders the memory of lanes; a shuffle or a vote does not.
void barrier(Warp& w, const Instruction& i) {
  if (w.block->races != nullptr) w.block->races->meet(w, w.row<Lanes>(i.from[0]));
}

}  // namespace

void add_meetings(Operations& all) {
  all["shfl.sync.idx.b32"] = shuffle<Shuffle::idx>;
  all["shfl.sync.bfly.b32"] = shuffle<Shuffle::bfly>;
  all["shfl.sync.up.b32"] = shuffle<Shuffle::up>;
  all["shfl.sync.down.b32"] = shuffle<Shuffle::down>;
  all["vote.sync.ballot.b32"] = ballot;
  all["bar.warp.sync"] = barrier;
}

}  // namespace stiction::ptx
