// Dense rows come back from blocks as they went in, whatever their length.
#include "cpu/transpose.h"

#include <gtest/gtest.h>

#include "cpu/dispatch.h"

namespace stiction::cpu {
namespace {

// Row lengths around the width of a tile.
constexpr int kLengths[] = {1, 3, 4, 7, 15, 16, 17, 31, 32, 33, 100};

template <class T>
void round_trip(const Kernels& k, bool wide, int n) {
  const auto lanes = static_cast<std::size_t>(k.lanes), length = static_cast<std::size_t>(n);
  std::vector<T> in(lanes * length), out(lanes * length, T(-1));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i + 1);
  alignas(64) static std::byte block[64 * 8 * 100];
  std::vector<const void*> from;
  std::vector<void*> to;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    from.push_back(&in[lane * length]);
    to.push_back(lane % 3 == 1 ? nullptr : &out[lane * length]);
  }
  k.load(wide, n, from.data(), block);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t i = 0; i < length; ++i)
      ASSERT_EQ(reinterpret_cast<T*>(block)[i * lanes + lane], in[lane * length + i])
          << k.name << " number " << i << " of lane " << lane << " of " << n;
  k.store(wide, n, block, to.data());
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], i / length % 3 == 1 ? T(-1) : in[i]) << k.name << " " << i << " of " << n;
}

TEST(Transpose, RowsAndBlocksHoldTheSameNumbers) {
  for (const Kernels* k : usable_kernels())
    for (const int n : kLengths) {
      round_trip<float>(*k, false, n);
      round_trip<double>(*k, true, n);
    }
  for (const int n : kLengths) round_trip<double>(float64_kernels(), false, n);
}

TEST(Transpose, CleaningTouchesOnlyBadNumbersAndNamesTheirLane) {
  for (const Kernels* k : usable_kernels()) {
    alignas(64) float block[3 * 64];
    for (int i = 0; i < 3 * k->lanes; ++i) block[i] = static_cast<float>(i) - 2.5f;
    const int lane = k->lanes - 1;
    block[k->lanes + lane] = std::numeric_limits<float>::quiet_NaN();
    block[2 * k->lanes + lane] = std::numeric_limits<float>::infinity();
    bool bad[64] = {};
    k->clean(false, 3, block, bad);
    for (int i = 0; i < k->lanes; ++i) EXPECT_EQ(bad[i], i == lane);
    for (int i = 0; i < 3 * k->lanes; ++i)
      EXPECT_EQ(block[i],
                i % k->lanes == lane && i >= k->lanes ? 0.0f : static_cast<float>(i) - 2.5f);
  }
}

TEST(Dispatch, TheEnvironmentVariableChoosesAndIsChecked) {
  for (const Kernels* k : usable_kernels()) {
    setenv("STICTION_ISA", k->name, 1);
    EXPECT_EQ(&float32_kernels(), k);
  }
  setenv("STICTION_ISA", "sse9", 1);
  try {
    float32_kernels();
    ADD_FAILURE();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("STICTION_ISA=sse9: must be one of"), std::string::npos);
  }
  unsetenv("STICTION_ISA");
  EXPECT_EQ(&float32_kernels(), usable_kernels().front());
}

}  // namespace
}  // namespace stiction::cpu
