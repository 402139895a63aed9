#include "cuda/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stiction/error.h"

namespace stiction::cuda {
namespace {

class Switch {
 public:
  Switch(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Switch() { unsetenv(name_); }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

 private:
  const char* name_;
};

TEST(Switches, AreWhatTheKernelsWereTunedForUnlessTheEnvironmentSaysOtherwise) {
  const Switches s = read_switches();
  EXPECT_TRUE(s.graphs);
  EXPECT_FALSE(s.times);
  EXPECT_EQ(s.arena_percent, kArenaPercent);
  EXPECT_EQ(s.collide_blocks, 0);
  EXPECT_EQ(s.solve_blocks, 0);

  const Switch arena("STICTION_CUDA_ARENA", "40"), blocks("STICTION_CUDA_COLLIDE_BLOCKS", "3"),
      solve("STICTION_CUDA_SOLVE_BLOCKS", "6");
  const Switch graphs("STICTION_CUDA_GRAPHS", "0"), empty("STICTION_CUDA_TIMES", "");
  const Switches other = read_switches();
  EXPECT_FALSE(other.graphs);
  EXPECT_FALSE(other.times);
  EXPECT_EQ(other.arena_percent, 40);
  EXPECT_EQ(other.collide_blocks, 3);
  EXPECT_EQ(other.solve_blocks, 6);
}

// Of its sizes, of the number of environments, and of what the caller wants.
TEST(Switches, TheGroupIsTheModelsUnlessTheCallerSays) {
  physics::SizesView m{};
  m.nv = ThreadSizes::nv, m.nu = 1, m.nbody = 3;
  EXPECT_EQ(group_of(m, Group::chosen, 8192), Group::thread);
  EXPECT_EQ(group_of(m, Group::warp, 8192), Group::warp);
  m.npair = 1;
  EXPECT_EQ(group_of(m, Group::chosen, 8192), Group::tile8);
  EXPECT_EQ(group_of(m, Group::chosen, 4096), Group::tile16);
  EXPECT_EQ(group_of(m, Group::chosen, 2048), Group::warp);
  m.nv = 64;
  EXPECT_EQ(group_of(m, Group::chosen, 8192), Group::tile16);
  EXPECT_EQ(group_of(m, Group::chosen, 1024), Group::warp);
  EXPECT_EQ(group_of(m, Group::tile4, 1024), Group::tile4);
  m.nv = 65;
  EXPECT_EQ(group_of(m, Group::chosen, 8192), Group::block);
  EXPECT_EQ(group_of(m, Group::warp, 8192), Group::warp);
}

TEST(Switches, TimesNeedPlainLaunches) {
  const Switch times("STICTION_CUDA_TIMES", "1"), graphs("STICTION_CUDA_GRAPHS", "1");
  const Switches s = read_switches();
  EXPECT_TRUE(s.times);
  EXPECT_FALSE(s.graphs);
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
