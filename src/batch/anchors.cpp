// Which contact slots of an environment may have an anchor. A hand has thousands of slots and touches with a few: a
// run processes only these. The anchors of all other slots are +0.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "batch/impl.h"

namespace stiction {
namespace {

constexpr int kWord = 64;  // slots per word

// The three numbers of an anchor, compared as words: -0 counts as nonzero.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
bool has_bits(const T* x, int n) {
  Bits<T> all = 0;
  for (int i = 0; i < n; ++i) all |= std::bit_cast<Bits<T>>(x[i]);
  return all != 0;
}

template <class F>
void for_bits(std::uint64_t word, int first, const F& f) {
  for (; word != 0; word &= word - 1) f(first + std::countr_zero(word));
}

template <class F>
void with_type(std::size_t number_bytes, const F& f) {
  number_bytes == 8 ? f(double{}) : f(float{});
}

int words_of(int slots, int anchors) {
  return anchors > 0 ? (slots + kWord - 1) / kWord : 0;
}

}  // namespace

std::size_t AnchorSlots::bytes_per_env(int slots, int anchors) {
  return sizeof(bits[0]) * at(words_of(slots, anchors)) + sizeof(known[0]);
}

void AnchorSlots::allocate(int envs, int slots, int anchors) {
  nslot = anchors > 0 ? slots : 0, nanchor = anchors;
  words = words_of(slots, anchors);
  bits.assign(at(envs) * at(words), 0);
  known.assign(at(envs), 1);  // known: the rows are zero, too
}

// Recomputes the bits of an environment from its row, unless nobody else can have written there.
void Batch::Impl::find_anchors(int env) {
  AnchorSlots& a = anchors;
  if (a.known[at(env)] != 0 && !a.shown && device == nullptr) return;
  with_type(number_bytes(spec(Field::anchor)), [&](auto type) {
    const auto* row = reinterpret_cast<const decltype(type)*>(this->row(Field::anchor, env));
    std::uint64_t* bits = a.of(env);
    std::fill_n(bits, a.words, 0);
    for (int behind = 0; behind < a.nanchor; behind += a.nslot)
      for (int w = 0; w < a.words; ++w) {
        const int first = kWord * w, n = std::min(kWord, a.nslot - first);
        const auto* x = row + 3 * (behind + first);
        if (!has_bits(x, 3 * n)) continue;
        for (int i = 0; i < n; ++i) bits[w] |= std::uint64_t{has_bits(x + 3 * i, 3)} << i;
      }
  });
  a.known[at(env)] = 1;
}

// Returns whether all anchors are numbers that a step can use.
bool Batch::Impl::anchors_are_finite(int env) {
  find_anchors(env);
  bool good = true;
  with_type(number_bytes(spec(Field::anchor)), [&](auto type) {
    const auto* row = reinterpret_cast<const decltype(type)*>(this->row(Field::anchor, env));
    for (int w = 0; w < anchors.words; ++w)
      for_bits(anchors.of(env)[w], kWord * w, [&](int slot) {
        for (int s = slot; s < anchors.nanchor; s += anchors.nslot)
          for (int k = 0; k < 3; ++k) good = good && std::isfinite(row[3 * s + k]);
      });
  });
  return good;
}

// Loads the anchors of the lanes into the block, and lists the slots that have one in any lane.
void Batch::Impl::load_anchors(Workspace& w, const int* env) {
  const int lanes = kernels.lanes;
  int* const list = static_cast<int*>(w.fields[at(Field::anchor_slot)]);
  int* const listed = static_cast<int*>(w.fields[at(Field::anchor_listed)]);
  int& count = *static_cast<int*>(w.fields[at(Field::nanchorslot)]);
  for (int lane = 0; lane < lanes; ++lane) find_anchors(env[lane]);
  with_type(number_bytes(spec(Field::anchor)), [&](auto type) {
    using T = decltype(type);
    T* const block = static_cast<T*>(w.fields[at(Field::anchor)]);
    const auto at_slot = [&](int slot) { return block + 3 * slot * lanes; };
    // clear what the previous pack left
    for (int i = 0; i < count; ++i) {
      listed[list[i]] = 0;
      for (int s = list[i]; s < anchors.nanchor; s += anchors.nslot)
        std::fill_n(at_slot(s), 3 * lanes, T{0});
    }
    count = 0;
    for (int k = 0; k < anchors.words; ++k) {
      std::uint64_t any = 0;
      for (int lane = 0; lane < lanes; ++lane) any |= anchors.of(env[lane])[k];
      for_bits(any, kWord * k, [&](int slot) {
        listed[slot] = 1, list[count++] = slot;
        for (int lane = 0; lane < lanes; ++lane) {
          if ((anchors.of(env[lane])[k] >> (slot % kWord) & 1) == 0) continue;
          const T* row = reinterpret_cast<const T*>(this->row(Field::anchor, env[lane]));
          for (int s = slot; s < anchors.nanchor; s += anchors.nslot)
            for (int c = 0; c < 3; ++c) at_slot(s)[c * lanes + lane] = row[3 * s + c];
        }
      });
    }
  });
}

// Stores the anchors of the listed slots back to the rows of the chosen lanes.
void Batch::Impl::store_anchors(Workspace& w, const int* env, const bool* chosen) {
  const int lanes = kernels.lanes;
  const int* const list = static_cast<const int*>(w.fields[at(Field::anchor_slot)]);
  const int count = *static_cast<const int*>(w.fields[at(Field::nanchorslot)]);
  with_type(number_bytes(spec(Field::anchor)), [&](auto type) {
    using T = decltype(type);
    const T* const block = static_cast<const T*>(w.fields[at(Field::anchor)]);
    for (int lane = 0; lane < lanes; ++lane) {
      if (!chosen[lane]) continue;
      T* const row = reinterpret_cast<T*>(this->row(Field::anchor, env[lane]));
      std::uint64_t* const bits = anchors.of(env[lane]);
      for (int i = 0; i < count; ++i) {
        const int slot = list[i];
        bool any = false;
        for (int s = slot; s < anchors.nanchor; s += anchors.nslot) {
          for (int c = 0; c < 3; ++c) row[3 * s + c] = block[(3 * s + c) * lanes + lane];
          any = any || has_bits(row + 3 * s, 3);
        }
        const std::uint64_t bit = std::uint64_t{1} << (slot % kWord);
        if (any)
          bits[slot / kWord] |= bit;
        else
          bits[slot / kWord] &= ~bit;
      }
    }
  });
}

// Clears all anchors of an environment.
void Batch::Impl::clear_anchors(int env) {
  find_anchors(env);
  std::byte* const row = this->row(Field::anchor, env);
  const std::size_t bytes = 3 * number_bytes(spec(Field::anchor));
  for (int w = 0; w < anchors.words; ++w) {
    for_bits(anchors.of(env)[w], kWord * w, [&](int slot) {
      for (int s = slot; s < anchors.nanchor; s += anchors.nslot)
        std::memset(row + at(s) * bytes, 0, bytes);
    });
    anchors.of(env)[w] = 0;
  }
}

}  // namespace stiction
