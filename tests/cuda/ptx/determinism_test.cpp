// Twenty steps of up to 33 environments on the PTX of the kernels: the bits of an environment depend on its state and
// inputs alone, not on the lanes that work on it, nor on how many others there are or where it lies among them.
#include <cstdlib>

#include "batch/scenes.h"
#include "cuda/switch.h"

namespace stiction::test {
namespace {

struct Lanes {
  std::string scene;
  std::vector<const char*> groups;  // of which all give the same bits
};
// the last one of a step and of refresh
const std::vector<const char*> kTiles = {"4", "8", "16", "warp", "8,4"};

class PtxDeterminism : public testing::TestWithParam<Lanes> {
 protected:
  PtxDeterminism() { use_device("cuda"); }
  ~PtxDeterminism() override {
    unsetenv("STICTION_CUDA_GROUP");
    use_device("cpu");
  }
  void SetUp() override {
    if (!interpreted()) GTEST_SKIP() << "a card has Determinism.*";
  }
  static Batch make(const char* group, const std::vector<int>& keys) {
    setenv("STICTION_CUDA_GROUP", group, 1);
    Options o;
    o.stiction = Stiction::anchored;
    return scattered(GetParam().scene, keys, {}, o);
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, PtxDeterminism,
                         testing::Values(Lanes{"go2", kTiles}, Lanes{"stack", kTiles},
                                         Lanes{"terrain", kTiles}, Lanes{"branches", kTiles},
                                         Lanes{"branches", {"thread"}}, Lanes{"rigging", kTiles},
                                         Lanes{"stops", kTiles}, Lanes{"stops", {"thread"}}),
                         [](const auto& named) {
                           return named.param.scene +
                                  (named.param.groups.size() == 1 ? "_by_a_thread" : "");
                         });

// D0 and D1.
TEST_P(PtxDeterminism, NeitherLanesNorNeighboursMatter) {
  const std::vector<int> seven = {32, 5, 17, 0, 8, 31, 24};
  const char* const first = GetParam().groups.front();
  Batch all = make(first, up_to(33));
  const Bytes before = bytes(all, 0);
  advance(all, 5);
  expect_contacts(all);
  EXPECT_EQ(all.counts().frozen, 0u);
  EXPECT_NE(bytes(all, 0), before);
  EXPECT_NE(bytes(all, 0), bytes(all, 1));
  Batch again = make(first, up_to(33));
  advance(again, 5);
  EXPECT_EQ(again.state_hash(), all.state_hash()) << "D0";
  for (const char* group : GetParam().groups)
    for (const std::vector<int>& keys : {std::vector<int>{17}, seven}) {
      Batch some = make(group, keys);
      advance(some, 5);
      expect_same(all, keys, some, std::string("lanes: ") + group);
    }
}

// D6: taken out in the middle of the way and set down in another place of another batch.
TEST_P(PtxDeterminism, AStateGoesOnWhereItIsSetDown) {
  for (const char* group : GetParam().groups) {
    Batch whole = make(group, up_to(3)), other = make(group, {7, 8, 9, 10, 11});
    advance(whole, 2), advance(other, 1);
    const std::vector<int> from = {2}, to = {3};
    other.set_state(to, whole.get_state(from));
    for (const char* input : {"ctrl", "mocap_pos", "mocap_quat"}) {
      const auto n = static_cast<int>(whole.field(input).size() / 3);
      for (int i = 0; i < n; ++i) put(other.field(input), 3, i, number(whole, input, 2, i));
    }
    advance(whole, 3), advance(other, 3);
    EXPECT_EQ(bytes(whole, 2), bytes(other, 3)) << group;
  }
}

// All kernels of several steps by one launch or each by its own, many environments in a block or few, also since the
// card has but 100 KiB of shared memory. The first step of a launch starts from what the call has set, each later one
// from what the step before has left: four steps have both, and contacts.
TEST_P(PtxDeterminism, HowStepsAreLaunchedChangesNoBit) {
  if (GetParam().groups.size() == 1) GTEST_SKIP() << "a thread has but one way";
  constexpr int kSteps = 4;
  for (const char* group : {"8", "4"}) {
    Batch whole = make(group, up_to(33));
    advance(whole, 1, kSteps);
    expect_contacts(whole);
    for (const auto& [name, value] :
         {std::pair("STICTION_CUDA_STEP", "0"), std::pair("STICTION_CUDA_STEP_WARPS", "1"),
          std::pair("STICTION_CUDA_STEP_WARPS", "16"), std::pair("STICTION_PTX_SHARED", "100"),
          std::pair("STICTION_CUDA_ARENA", "0"), std::pair("STICTION_CUDA_BARRIERS", "0"),
          std::pair("STICTION_CUDA_BARRIERS", "4")}) {
      const Switch other(name, value);
      Batch b = make(group, up_to(33));
      advance(b, 1, kSteps);
      EXPECT_EQ(b.state_hash(), whole.state_hash()) << name << '=' << value;
      if (std::string(name) == "STICTION_PTX_SHARED") {
        EXPECT_LT(b.kernels()[0].envs_per_sm, whole.kernels()[0].envs_per_sm) << group;
      }
    }
    Batch single = make(group, up_to(33));
    advance(single, 1, 1);
    for (int k = 1; k < kSteps; ++k) single.step();
    EXPECT_EQ(single.state_hash(), whole.state_hash()) << "step by step";
  }
}

}  // namespace
}  // namespace stiction::test
