// What only a card has: graphs and streams. On the card all tests of a batch run besides, with
// "cuda" in their names.
#ifdef STICTION_CUDA
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "batch/scenes.h"

namespace stiction::test {
namespace {

class Cuda : public testing::TestWithParam<std::string> {
 protected:
  Cuda() { use_device("cuda"); }
  ~Cuda() override { use_device("cpu"); }
  void SetUp() override {
    if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    if (interpreted() && test.rfind("GroupsAgree", 0) != 0)
      GTEST_SKIP() << "interpreted PTX has neither graphs nor streams nor a card's memory";
  }
  static Batch without_graphs(const std::string& name, int n) {
    setenv("STICTION_CUDA_GRAPHS", "0", 1);
    Batch b = scattered(name, up_to(n));
    unsetenv("STICTION_CUDA_GRAPHS");
    return b;
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, Cuda, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param + "_cuda"; });

// D1: nor on whether its steps are launched as a graph.
TEST_P(Cuda, GraphsDoNotMatter) {
  constexpr int kEnvs = 1000;
  Batch with = scattered(GetParam(), up_to(kEnvs)), without = without_graphs(GetParam(), kEnvs);
  advance(with, 10), advance(without, 10);
  with.step(40), without.step(40);  // more than a graph holds
  EXPECT_EQ(with.state_hash(), without.state_hash());
  for (int env = 0; env < kEnvs; env += 37) EXPECT_EQ(bytes(with, env), bytes(without, env)) << env;
  expect_contacts(with);
}

// D1: nor on the stream, nor on when it changes.
TEST_P(Cuda, StreamsDoNotMatter) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  {
    Batch a = scattered(GetParam(), up_to(500)), b = scattered(GetParam(), up_to(500));
    b.set_stream(handle);
    EXPECT_EQ(b.stream(), handle);
    for (int k = 0; k < 10; ++k) {
      a.step(4), b.step(4);
      b.set_stream(k % 2 == 0 ? 0 : handle);
    }
    EXPECT_EQ(a.state_hash(), b.state_hash());
    BatchOptions o = batch_options(3);
    o.stream = handle;
    EXPECT_EQ(Batch(scene(GetParam()), o).stream(), handle);
  }
  cudaStreamDestroy(stream);
}

// Two batches at work at a time, one of them on another stream, do not meet.
TEST_P(Cuda, BatchesSideBySideDoNotMeet) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    Batch alone = scattered(GetParam(), up_to(300));
    alone.step(20);
    const auto hash = alone.state_hash();
    Batch a = scattered(GetParam(), up_to(300)), b = scattered("pile", up_to(300));
    b.set_stream(reinterpret_cast<std::uintptr_t>(stream));
    for (int k = 0; k < 20; ++k) a.step(), b.step();
    EXPECT_EQ(a.state_hash(), hash);
  }
  cudaStreamDestroy(stream);
}

TEST_P(Cuda, MemoryThatIsNotThereIsRefusedWithNumbers) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  int n = 4096;  // not far beyond: the host reserves its share, too
  while (batch_memory(*scene(GetParam()), batch_options(n)).device <= total) n += n / 4;
  const std::string message = error_message([&] { Batch(scene(GetParam()), batch_options(n)); });
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr(" needs "), testing::HasSubstr(" MB")));
}

// A warp and a thread solve the same problem, tiles of a warp with the same bits, and a model that a
// thread can't have is refused.
TEST_P(Cuda, GroupsAgree) {
  const auto of_group = [](const char* group) {
    setenv("STICTION_CUDA_GROUP", group, 1);
    Batch b = scattered(GetParam(), up_to(100));
    b.step();
    return b;
  };
  const std::string refused = error_message([&] { of_group("thread"); });
  if (scene(GetParam())->npair > 0) {
    EXPECT_THAT(refused, testing::HasSubstr("contact pairs"));
  } else {
    EXPECT_EQ(refused, "");
    Batch thread = of_group("thread"), warp = of_group("warp");
    for (int env = 0; env < 100; ++env)
      for (int i = 0; i < thread.model().nv; ++i)
        EXPECT_NEAR(number(thread, "qvel", env, i), number(warp, "qvel", env, i), 1e-3);
  }
  const Batch whole = of_group("warp");
  for (const char* tile : {"4", "8", "16"})
    EXPECT_EQ(of_group(tile).state_hash(), whole.state_hash()) << tile;
  EXPECT_THAT(error_message([&] { of_group("lane"); }),
              testing::HasSubstr("thread, 4, 8, 16, warp or block"));
  unsetenv("STICTION_CUDA_GROUP");
}

// Steps allocate neither on the card nor on the host.
TEST_P(Cuda, AStepAllocatesNothing) {
  Batch b = scattered(GetParam(), up_to(1000));
  b.step(4);
  b.synchronize();
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  for (int k = 0; k < 20; ++k) b.step(4);
  b.synchronize();
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace stiction::test
#endif
