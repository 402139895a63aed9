#include "cuda/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/switch.h"
#include "stiction/error.h"

namespace stiction::cuda {
namespace {

using test::Switch;

TEST(Switches, AreWhatTheKernelsWereTunedForUnlessTheEnvironmentSaysOtherwise) {
  const Switches s = read_switches();
  EXPECT_TRUE(s.graphs);
  EXPECT_FALSE(s.times);
  EXPECT_EQ(s.arena_percent, kArenaPercent);
  EXPECT_TRUE(s.step);
  EXPECT_EQ(s.step_warps, 0);
  EXPECT_EQ(s.barriers, kAllBarriers);

  const Switch arena("STICTION_CUDA_ARENA", "40"), warps("STICTION_CUDA_STEP_WARPS", "8");
  const Switch graphs("STICTION_CUDA_GRAPHS", "0"), empty("STICTION_CUDA_TIMES", "");
  const Switches other = read_switches();
  EXPECT_FALSE(other.graphs);
  EXPECT_FALSE(other.times);
  EXPECT_EQ(other.arena_percent, 40);
  EXPECT_EQ(other.step_warps, 8);
}

// Of its sizes, of the number of environments, and of what the caller wants.
TEST(Switches, TheGroupsAreTheModelsUnlessTheCallerSays) {
  physics::ModelView m{};
  const auto group = [&](Kernel k, Group wanted, int num_envs) {
    return groups_of(m, all_in(wanted), num_envs)[k];
  };
  m.nv = ThreadSizes::nv, m.nu = 1, m.nbody = 3;
  EXPECT_EQ(group(Kernel::solve, Group::chosen, 8192), Group::thread);
  EXPECT_EQ(group(Kernel::solve, Group::warp, 8192), Group::warp);
  m.npair = 1;
  for (const int nv : {8, 64}) {
    m.nv = nv;
    for (const Kernel k : {Kernel::dynamics, Kernel::collide, Kernel::solve, Kernel::move}) {
      EXPECT_EQ(group(k, Group::chosen, 2112), Group::warp);
      EXPECT_EQ(group(k, Group::chosen, 4224), Group::tile16);
      EXPECT_EQ(group(k, Group::chosen, 4225), Group::tile8);
      EXPECT_EQ(group(k, Group::chosen, 100000), Group::tile8);
    }
  }
  EXPECT_EQ(group(Kernel::refresh, Group::chosen, 2640), Group::warp);
  // fewer warps of a kernel with more registers are resident
  m.na = 1;
  EXPECT_EQ(group(Kernel::refresh, Group::chosen, 2640), Group::tile8);
  EXPECT_EQ(group(Kernel::dynamics, Group::chosen, 2112), Group::warp);
  EXPECT_EQ(group(Kernel::dynamics, Group::tile16, 1024), Group::tile16);
  m.nv = 65;
  EXPECT_EQ(group(Kernel::solve, Group::chosen, 8192), Group::block);
  EXPECT_EQ(group(Kernel::move, Group::chosen, 8192), Group::warp);
  EXPECT_EQ(group(Kernel::solve, Group::warp, 8192), Group::warp);
}

TEST(Switches, AGroupIsOfAllKernelsOrOfAStepAndOfRefresh) {
  {
    const Switch all("STICTION_CUDA_GROUP", "16");
    for (const Group g : group_switch().of) EXPECT_EQ(g, Group::tile16);
  }
  const Switch each("STICTION_CUDA_GROUP", "8,warp");
  const Groups groups = group_switch();
  for (const Kernel k : {Kernel::dynamics, Kernel::collide, Kernel::solve, Kernel::move})
    EXPECT_EQ(groups[k], Group::tile8);
  EXPECT_EQ(groups[Kernel::refresh], Group::warp);
  for (const char* wrong : {"2", "8,8,8", "8,thread", "block,8", "8,,8", "8,"}) {
    const Switch group("STICTION_CUDA_GROUP", wrong);
    EXPECT_THROW((void)group_switch(), ArgumentError) << wrong;
  }
}

// All of a multiprocessor where the card is full, and spread over all of them where not.
TEST(Switches, BlocksFillTheMultiprocessors) {
  const auto warps = [](int lanes, int num_envs) { return step_warps_of(lanes, num_envs, 132); };
  EXPECT_EQ(warps(32, 1), 1);
  EXPECT_EQ(warps(32, 133), 2);
  EXPECT_EQ(warps(32, 2112), 16);
  EXPECT_EQ(warps(32, 100000), 16);
  EXPECT_EQ(warps(16, 2113), 9);
  EXPECT_EQ(warps(16, 4224), 16);
  EXPECT_EQ(warps(8, 33), 1);
  EXPECT_EQ(warps(8, 4225), 9);
  EXPECT_EQ(warps(8, 8192), 16);
  EXPECT_EQ(warps(4, 33), 1);
  EXPECT_EQ(warps(4, 8192), 8);
  EXPECT_EQ(warps(4, 16384), 16);
}

TEST(Switches, TimesNeedPlainLaunchesOfEachKernel) {
  const Switch times("STICTION_CUDA_TIMES", "1"), graphs("STICTION_CUDA_GRAPHS", "1");
  const Switches s = read_switches();
  EXPECT_TRUE(s.times);
  EXPECT_FALSE(s.graphs);
  EXPECT_FALSE(s.step);
}

TEST(Switches, RefuseWhatIsNoNumberInRange) {
  for (const char* wrong : {"101", "-1", "7x", "x", "1e1", "99999999999999999999"}) {
    const Switch arena("STICTION_CUDA_ARENA", wrong);
    try {
      (void)read_switches();
      ADD_FAILURE() << wrong;
    } catch (const ArgumentError& e) {
      EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("STICTION_CUDA_ARENA"),
                                           testing::HasSubstr(wrong), testing::HasSubstr("100")));
    }
  }
}

}  // namespace
}  // namespace stiction::cuda
