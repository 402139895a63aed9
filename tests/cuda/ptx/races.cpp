#include "cuda/ptx/races.h"

#include <bit>
#include <sstream>

namespace stiction::ptx {

void Races::begin_block(int warps) {
  ++block_, epoch_ = 0;
  warps_.assign(static_cast<std::size_t>(warps), {});
  // shared and local memory have the same addresses in every block
  std::erase_if(words_, [](const auto& entry) { return entry.first >> kSpaceBit != 0; });
}

void Races::meet(const Warp& w, const Lanes* masks) {
  Meetings& m = warps_[static_cast<std::size_t>(w.number)];
  ++m.now;
  if (w.active == kAll && masks[0] == kAll) {
    m.all = m.now;
    return;
  }
  for (std::size_t a = 0; a < kLanes; ++a)
    for (std::size_t b = 0; b < kLanes; ++b)
      if ((w.active >> a & w.active >> b & masks[a] >> b & 1) != 0) m.of[a][b] = m.now;
}

bool Races::ordered(const Time& before, int lane_before, const Warp& w, int lane) const {
  if (before.block < 0) return true;
  if (before.block != block_) return false;
  if (before.epoch != epoch_) return true;
  if (before.warp != w.number) return false;
  if (lane_before == lane) return true;
  const Meetings& m = warps_[static_cast<std::size_t>(w.number)];
  const auto a = static_cast<std::size_t>(lane), b = static_cast<std::size_t>(lane_before);
  return before.meetings < m.all || before.meetings < m.of[a][b];
}

void Races::fail(const Warp& w, const Instruction& i, int lane, bool store, const Time& other,
                 int other_lane, int line, bool wrote) const {
  std::ostringstream text;
  text << "a race: " << (store ? "writes" : "reads") << " what lane " << other_lane << " of "
       << (other.block != block_ ? "another block" : "warp " + std::to_string(other.warp))
       << (wrote ? " wrote" : " read") << " at line " << line << " (" << w.block->module->line(line)
       << "), without a barrier between;";
  w.fail(i, lane, text.str());
}

void Races::touch(const Warp& w, const Instruction& i, int lane, Word& word, bool store,
                  bool changes) {
  const Time now = {block_, w.number, epoch_, warps_[static_cast<std::size_t>(w.number)].now};
  // the same number once more is seen by nobody
  if ((!store || changes) && !ordered(word.written, word.writer, w, lane))
    fail(w, i, lane, store, word.written, word.writer, word.write_line, true);
  if (!store) {
    const bool same = word.read.block == now.block && word.read.epoch == now.epoch;
    word.many = same && (word.many || word.read.warp != now.warp);
    if (!same || word.read.warp != now.warp || word.read.meetings != now.meetings) word.readers = 0;
    word.readers |= Lanes{1} << lane;
    word.read = now, word.read_line = i.line;
    return;
  }
  if (!changes) return;
  if (word.many && word.read.block == block_ && word.read.epoch == epoch_)
    fail(w, i, lane, true, word.read, std::countr_zero(word.readers), word.read_line, false);
  for (Lanes rest = word.readers; rest != 0; rest &= rest - 1) {
    const int reader = std::countr_zero(rest);
    if (!ordered(word.read, reader, w, lane))
      fail(w, i, lane, true, word.read, reader, word.read_line, false);
  }
  word.written = now, word.writer = lane, word.write_line = i.line;
}

void Races::access(const Warp& w, const Instruction& i, int lane, std::uint64_t address, int bytes,
                   bool store, bool changes) {
  const Space space = static_cast<Space>(address >> kSpaceBit);
  if (space == Space::local || space == Space::param) return;
  if (bytes < 4) {
    for (int k = 0; k < bytes; ++k)
      touch(w, i, lane, words_[address + static_cast<unsigned>(k)], store, changes);
    return;
  }
  for (int k = 0; k < bytes; k += 4)
    touch(w, i, lane, words_[address + static_cast<unsigned>(k)], store, changes);
}

}  // namespace stiction::ptx
