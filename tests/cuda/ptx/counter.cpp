#include "cuda/ptx/counter.h"

#include <algorithm>
#include <bit>

namespace stiction::ptx {
namespace {

constexpr std::uint64_t kSector = 32, kLine = 4;  // bytes; sectors
constexpr int kBanks = 32;
// Local memory has addresses of its own.
constexpr std::uint64_t kLocalSectors = std::uint64_t{1} << 56;

template <class T>
void keep_each_once(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

void Cache::clear() {
  lines_.clear();
  find_.clear();
}

void Cache::touch(std::uint64_t sector, bool store, bool keeps, Sectors& moved) {
  const auto bit = static_cast<std::uint8_t>(1u << (sector % kLine));
  auto found = find_.find(sector / kLine);
  if (found == find_.end()) {
    if (lines_.size() >= lines_most_ && !lines_.empty()) {
      moved.written += static_cast<unsigned>(std::popcount(lines_.back().changed));
      find_.erase(lines_.back().number);
      lines_.pop_back();
    }
    lines_.push_front({sector / kLine, 0, 0});
    found = find_.emplace(sector / kLine, lines_.begin()).first;
  } else {
    lines_.splice(lines_.begin(), lines_, found->second);
  }
  Line& line = lines_.front();
  if (!store && (line.there & bit) == 0) ++moved.fetched;
  line.there |= bit;
  if (!store) return;
  if (keeps)
    line.changed |= bit;
  else
    ++moved.written;
}

// Loads come by the first cache, stores go through it to the second one.
void Counter::cached(std::vector<std::uint64_t>& sectors, bool store) {
  for (const std::uint64_t sector : sectors) {
    Cache::Sectors below, memory;
    first_.touch(sector, store, false, below);
    counts.l2_sectors += below.fetched + below.written;
    if (below.fetched + below.written == 0) continue;
    second_.touch(sector, store, true, memory);
    counts.hbm_sectors += memory.fetched + memory.written;
  }
}

// Words of one bank take a wave each.
void Counter::shared(const std::uint64_t* address, int n, int bytes) {
  std::vector<std::uint64_t>& words = sectors_;
  words.clear();
  for (int k = 0; k < n; ++k)
    for (int b = 0; b < std::max(bytes, 4); b += 4)
      words.push_back((address[k] + static_cast<unsigned>(b)) / 4);
  keep_each_once(words);
  int of_bank[kBanks] = {}, most = 1;
  for (const std::uint64_t word : words) most = std::max(most, ++of_bank[word % kBanks]);
  ++counts.shared_requests, counts.shared_waves += static_cast<unsigned>(most);
  if (trace != nullptr) tracing_->waves = static_cast<std::uint16_t>(most);
}

void Counter::access(Warp& w, const Instruction& i, int bytes, bool store) {
  if (i.space == Space::param) return;
  std::uint64_t shared_address[kLanes];
  int n_shared = 0;
  std::vector<std::uint64_t> global, local;
  for (Lanes rest = w.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t a = w.address(i, lane);
    switch (static_cast<Space>(a >> kSpaceBit)) {
      case Space::shared: shared_address[n_shared++] = a - window(Space::shared); break;
      case Space::local: {
        // the same word of all lanes of a warp lies side by side
        const std::uint64_t word = (a - window(Space::local)) / 4,
                            warp_number = w.block->index[0] * 64u + static_cast<unsigned>(w.number);
        for (unsigned k = 0; k < static_cast<unsigned>(std::max(bytes, 4)) / 4; ++k)
          local.push_back(kLocalSectors + (warp_number << 32) +
                          ((word + k) * 4 * kLanes + static_cast<unsigned>(lane) * 4) / kSector);
        break;
      }
      case Space::global:
        for (std::uint64_t s = a / kSector; s <= (a + static_cast<unsigned>(bytes) - 1) / kSector;
             ++s)
          global.push_back(s);
        break;
      default: break;
    }
  }
  if (n_shared > 0) shared(shared_address, n_shared, bytes);
  keep_each_once(global), keep_each_once(local);
  counts.global_requests += global.empty() ? 0 : 1, counts.global_sectors += global.size();
  counts.local_requests += local.empty() ? 0 : 1, counts.local_sectors += local.size();
  cached(global, store), cached(local, store);
  if (trace == nullptr) return;
  tracing_->sectors = static_cast<std::uint32_t>(trace->sectors.size());
  tracing_->count = static_cast<std::uint16_t>(global.size() + local.size());
  const auto first = reinterpret_cast<std::uint64_t>(w.block->global.data) / kSector;
  for (const std::uint64_t s : global)
    trace->sectors.push_back(static_cast<std::uint32_t>(s - first));
  // a warp has fewer than 2^16 sectors of local memory
  for (const std::uint64_t s : local)
    trace->sectors.push_back(Executed::kLocal |
                             static_cast<std::uint32_t>((s >> 32 & 0x7fff) << 16 | (s & 0xffff)));
}

}  // namespace stiction::ptx
