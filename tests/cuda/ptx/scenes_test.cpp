// Steps of the scenes on the PTX of the kernels while each access is compared with those of the other
// lanes: STICTION_PTX_RACES (tests.cmake).
#include "batch/scenes.h"

#include <cstdlib>

namespace stiction::test {
namespace {

class PtxScenes : public testing::TestWithParam<std::string> {
 protected:
  PtxScenes() { use_device("cuda"); }
  ~PtxScenes() override { use_device("cpu"); }
  void SetUp() override {
    if (!interpreted() || std::getenv("STICTION_PTX_RACES") == nullptr)
      GTEST_SKIP() << "only where the interpreter looks for races";
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, PtxScenes,
                         testing::Values("go2", "g1_feetonly", "stack", "pile", "drums", "rocks",
                                         "terrain", "pushed", "branches", "loops", "rigging",
                                         "stops", "bounces"),
                         [](const auto& named) { return named.param; });

// Of all groups and laws: what a lane writes, no other one touches without a barrier between.
TEST_P(PtxScenes, HaveNoRaces) {
  std::vector<Options> laws(3);
  laws[1].stiction = Stiction::anchored, laws[1].friction_iterations = 2;
  laws[2].contact_model = ContactModel::sap;
  for (const char* group : {"", "4", "8", "warp", "block"}) {
    if (*group != '\0') setenv("STICTION_CUDA_GROUP", group, 1);
    for (const Options& o : laws) {
      Batch b = scattered(GetParam(), up_to(5), {}, o);
      EXPECT_NO_THROW(advance(b, 1, 2)) << group;
      b.reset(std::vector<int>{1, 3});
      b.copy(std::vector<int>{0}, std::vector<int>{4});
      EXPECT_NO_THROW(b.step()) << group;
      expect_contacts(b);
    }
    unsetenv("STICTION_CUDA_GROUP");
  }
}

}  // namespace
}  // namespace stiction::test
