#include "cuda/local_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace stiction::cuda {
namespace {

// An H100 has 132 multiprocessors with 2048 threads: 0.64 GB for 2368 bytes of each, at most 0.78 GB.
TEST(LocalMemory, IsThatOfAllThreadsThatACardHolds) {
  constexpr std::size_t kThreads = 132 * 2048;
  EXPECT_EQ(local_memory(2368, 2048, 132), (2368 + 512) * kThreads);
  EXPECT_EQ(local_memory(8, 2048, 132), (8 + 512) * kThreads);
  EXPECT_EQ(local_memory(0, 2048, 132), 0u);
  // beyond 32 bits
  EXPECT_EQ(local_memory(65536, 2048, 160), std::size_t{66048} * 160 * 2048);
}

TEST(LocalMemory, IsTakenOnceForTheKernelThatHasMost) {
  LocalMemory memory;
  const auto more = [&](int device, std::size_t bytes) {
    std::size_t asked = 99;
    memory.take(device, bytes, [&](std::size_t n) { asked = n; });
    return asked;
  };
  EXPECT_EQ(more(0, 100), 100u);
  EXPECT_EQ(more(0, 100), 0u);
  EXPECT_EQ(more(0, 160), 60u);
  EXPECT_EQ(more(0, 20), 0u);
  EXPECT_EQ(more(1, 20), 20u);
  // what was refused was not taken
  EXPECT_THROW(memory.take(1, 50, [](std::size_t) { throw std::runtime_error(""); }),
               std::runtime_error);
  EXPECT_EQ(more(1, 50), 30u);
}

TEST(LocalMemory, IsNeededBesidesWhatIsAllocated) {
  constexpr std::size_t kMega = 1000000;
  EXPECT_EQ(why_no_room(300 * kMega, 700 * kMega, 1000 * kMega, 8000 * kMega), "");
  EXPECT_EQ(
      why_no_room(300 * kMega, 701 * kMega, 1000 * kMega, 8000 * kMega),
      "needs 300 MB and 701 MB of local memory, 1000 MB of 8000 MB are free; reduce num_envs");
  EXPECT_EQ(why_no_room(1001 * kMega, 0, 1000 * kMega, 8000 * kMega),
            "needs 1001 MB, 1000 MB of 8000 MB are free; reduce num_envs");
}

}  // namespace
}  // namespace stiction::cuda
