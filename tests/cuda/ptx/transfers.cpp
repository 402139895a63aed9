// Loads and stores of all active lanes, with what is checked of each: alignment, that the bytes
// belong to something, that somebody wrote what is read, and where that is asked for, races.
#include <bit>
#include <cstring>

#include "cuda/ptx/counter.h"
#include "cuda/ptx/lanes.h"
#include "cuda/ptx/operations.h"
#include "cuda/ptx/races.h"

namespace stiction::ptx {
namespace {

std::string what_of(const char* does, int bytes, std::uint64_t address) {
  static constexpr const char* kSpaces[] = {"global", "shared", "local", "parameter"};
  const auto space = address >> kSpaceBit;
  return std::string(does) + " " + std::to_string(bytes) + " bytes of " +
         (space < 4 ? kSpaces[space] : "no") + " memory";
}

// Where a lane's bytes are; Found is never `outside`.
template <int bytes>
std::byte* look(Warp& w, const Instruction& i, int lane, bool store, const Region*& region,
                std::uint64_t& at, Found& found) {
  const std::uint64_t address = w.address(i, lane);
  const char* const does = store ? "writes" : "reads";
  if (address % bytes != 0) w.fail(i, lane, what_of(does, bytes, address) + ", misaligned,");
  region = w.region(address, lane, at);
  found = region == nullptr ? Found::outside : region->look<bytes>(at);
  if (found == Found::outside)
    w.fail(i, lane, what_of(does, bytes, address) + " that belong to nothing,");
  return region->data + at;
}

inline void check_address(Warp& w, const Instruction& i) {
  if (const Lanes unknown = w.unwritten_in(i.from[0]) & w.active; unknown != 0)
    w.fail(i, std::countr_zero(unknown), "memory that nobody wrote is an address");
}

template <class T, int N>
void load(Warp& w, const Instruction& i) {
  constexpr int kBytes = sizeof(T) * N;
  check_address(w, i);
  if (w.block->counter != nullptr) w.block->counter->access(w, i, kBytes, false);
  Lanes unknown[N] = {};
  for (Lanes rest = w.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Region* region;
    std::uint64_t at;
    Found found;
    const std::byte* const from = look<kBytes>(w, i, lane, false, region, at, found);
    if (found == Found::unwritten)
      for (std::size_t k = 0; k < N; ++k)
        if (region->look<sizeof(T)>(at + k * sizeof(T)) == Found::unwritten)
          unknown[k] |= Lanes{1} << lane;
    if (w.block->races != nullptr)
      w.block->races->access(w, i, lane, w.address(i, lane), kBytes, false, false);
    T value[N];
    std::memcpy(value, from, kBytes);
    if (i.wide_values)
      w.row<std::uint64_t>(i.vector[0])[lane] = static_cast<std::uint64_t>(value[0]);
    else
      for (int k = 0; k < N; ++k) w.row<Held<T>>(i.vector[k])[lane] = hold<T>(value[k]);
  }
  for (int k = 0; k < N; ++k) w.depends(i.vector[k], unknown[k]);
}

// What depends on memory that nobody wrote is written nowhere.
template <class T, int N>
void store(Warp& w, const Instruction& i) {
  constexpr int kBytes = sizeof(T) * N;
  check_address(w, i);
  if (w.block->counter != nullptr) w.block->counter->access(w, i, kBytes, true);
  Lanes unknown = 0;
  for (int k = 0; k < N; ++k) unknown |= w.unwritten_in(i.vector[k]);
  for (Lanes rest = w.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Region* region;
    std::uint64_t at;
    Found found;
    std::byte* const to = look<kBytes>(w, i, lane, true, region, at, found);
    if (region == &w.block->parameters) w.fail(i, lane, "writes a parameter");
    T value[N];
    if (i.wide_values)
      value[0] = static_cast<T>(w.row<std::uint64_t>(i.vector[0])[lane]);
    else
      for (int k = 0; k < N; ++k) value[k] = held<T>(w.row<Held<T>>(i.vector[k])[lane]);
    if (w.block->races != nullptr)
      w.block->races->access(w, i, lane, w.address(i, lane), kBytes, true,
                             std::memcmp(to, value, kBytes) != 0);
    std::memcpy(to, value, kBytes);
    region->mark<kBytes>(at, true);
    if ((unknown >> lane & 1) == 0) continue;
    for (std::size_t k = 0; k < N; ++k)
      if ((w.unwritten_in(i.vector[k]) >> lane & 1) != 0)
        region->mark<sizeof(T)>(at + k * sizeof(T), false);
  }
}

template <class T>
void add(Operations& all, const std::string& type) {
  for (const std::string space : {"", ".global", ".shared", ".local", ".param", ".const"}) {
    all["ld" + space + "." + type] = load<T, 1>;
    all["st" + space + "." + type] = store<T, 1>;
    all["ld" + space + ".v2." + type] = load<T, 2>;
    all["st" + space + ".v2." + type] = store<T, 2>;
    if constexpr (sizeof(T) <= 4) {
      all["ld" + space + ".v4." + type] = load<T, 4>;
      all["st" + space + ".v4." + type] = store<T, 4>;
    }
  }
  all["ld.global.nc." + type] = load<T, 1>;
}

}  // namespace

void add_transfers(Operations& all) {
  add<std::uint8_t>(all, "u8"), add<std::uint8_t>(all, "b8");
  add<std::uint16_t>(all, "u16"), add<std::uint16_t>(all, "b16"), add<std::int16_t>(all, "s16");
  add<std::uint32_t>(all, "u32"), add<std::uint32_t>(all, "b32"), add<std::int32_t>(all, "s32");
  add<std::uint64_t>(all, "u64"), add<std::uint64_t>(all, "b64"), add<std::int64_t>(all, "s64");
  add<float>(all, "f32"), add<double>(all, "f64");
}

}  // namespace stiction::ptx
