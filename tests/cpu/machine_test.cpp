// Limits of control groups as the kernel writes them, nested, of both versions, seen from outside and
// from within a container.
#include "cpu/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

namespace stiction::cpu {
namespace {

namespace fs = std::filesystem;

class Machine : public testing::Test {
 protected:
  std::string root_ =
      (fs::temp_directory_path() / ("stiction_machine_" + std::to_string(getpid()))).string();
  ~Machine() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  GroupLimits limits() const { return group_limits(root_); }
};

constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
const char* const kUnified =
    "25 20 0:21 / /proc rw - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kStat = "anon 5000\nfile 900\ninactive_file 300\nactive_file 200\n";

TEST_F(Machine, WithoutGroupsThereIsNoLimit) {
  EXPECT_TRUE(std::isinf(limits().processors));
  EXPECT_EQ(limits().memory, kMany);
  EXPECT_EQ(limits().memory_left, kMany);
  EXPECT_EQ(processors_within(6, limits().processors), 6);
}

TEST_F(Machine, TheTightestOfNestedGroupsOfVersion2) {
  write("/proc/self/cgroup", "0::/a/b/c\n");
  write("/proc/self/mountinfo", kUnified);
  write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/a/memory.max", "max\n");
  write("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
  write("/sys/fs/cgroup/a/b/memory.current", "100500\n");
  write("/sys/fs/cgroup/a/b/memory.stat", kStat);
  write("/sys/fs/cgroup/a/b/c/memory.max", "2000000\n");
  EXPECT_EQ(limits().processors, 1.5);
  EXPECT_EQ(limits().memory, 1000000u);
  EXPECT_EQ(limits().memory_left, 900000u);  // 1000000 − (100500 − 300 − 200)
}

TEST_F(Machine, Version1WithHierarchiesOfItsOwn) {
  write("/proc/self/cgroup", "5:memory:/jobs/7\n4:cpu,cpuacct:/jobs\n1:name=systemd:/\n0::/\n");
  write("/proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "50000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "9223372036854771712\n");  // none
  write("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "3000000\n");
  write("/sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "3500000\n");
  EXPECT_EQ(limits().processors, 0.5);
  EXPECT_EQ(limits().memory, 3000000u);
  EXPECT_EQ(limits().memory_left, 0u);
}

// There the process's path is of the host, or starts above what can be seen.
TEST_F(Machine, InAContainer) {
  write("/proc/self/cgroup", "4:memory:/docker/1f3a\n0::/../other\n");
  write("/proc/self/mountinfo",
        "35 31 0:32 /docker/1f3a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "36 31 0:33 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000\n");
  write("/sys/fs/cgroup/unified/cpu.max", "250000 100000\n");
  EXPECT_EQ(limits().memory, 4000000u);
  EXPECT_EQ(limits().processors, 2.5);
}

TEST_F(Machine, NonsenseIsNoLimit) {
  write("/proc/self/cgroup", "0\n::\n0::/a\n");
  write("/proc/self/mountinfo", std::string("what\n - \n- -\n") + kUnified);
  write("/sys/fs/cgroup/cpu.max", "");
  write("/sys/fs/cgroup/memory.max", "a lot");
  write("/sys/fs/cgroup/a/cpu.max", "100 0");
  EXPECT_TRUE(std::isinf(limits().processors));
  EXPECT_EQ(limits().memory, kMany);
}

TEST_F(Machine, ProcessorsAreThoseOfTheAffinityWithinTheQuota) {
  EXPECT_EQ(processors_within(8, 0.2), 1);
  EXPECT_EQ(processors_within(8, 1.5), 2);
  EXPECT_EQ(processors_within(8, 3.0), 3);
  EXPECT_EQ(processors_within(2, 64.0), 2);
  EXPECT_GE(available_processors(), 1);
  int alone = 0;
  std::thread([&] {
    cpu_set_t mine, one;
    sched_getaffinity(0, sizeof mine, &mine);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &mine)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    alone = available_processors();
  }).join();
  EXPECT_EQ(alone, 1);
  EXPECT_GT(physical_memory(), std::size_t{1} << 24);
}

}  // namespace
}  // namespace stiction::cpu
