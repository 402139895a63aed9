// The replay in time on PTX whose time has a closed form.
#include "cuda/ptx/multiprocessor.h"

#include <gmock/gmock.h>

#include <numeric>

#include "cuda/ptx/kernel_times.h"
#include "cuda/ptx/machine.h"

namespace stiction::ptx {
namespace {

// Round numbers; instructions are there at once, unless a test is about them.
Latencies simple() {
  Latencies l;
  l.arithmetic = 4, l.taken = 12, l.more = 1, l.fetch = 0;
  return l;
}

class Replay : public testing::Test {
 protected:
  Replay() {
    counter.resize(1 << 18, 1 << 20);
    counter.trace = &trace;
    card.counter = &counter;
    card.launched = [this](const Module& m, const Function& f, const LaunchSize& size) {
      const MachineCode code(m, f);
      TimedCache second;
      second.resize(1 << 20);
      Multiprocessor one(latencies, second);
      const int of_block = static_cast<int>(size.threads + 31) / 32;
      // a copy of all of them beside them, of memory of its own
      std::vector<MultiprocessorWarp> all;
      for (int c = 0; c < (copied ? 2 : 1); ++c)
        for (const WarpTrace& w : trace.warps) all.push_back({&w, c});
      const std::unordered_set<std::uint32_t> own(trace.sectors.begin(), trace.sectors.end());
      timed = one.run(code, {all, of_block, own, trace.sectors}, resident_blocks, 1 << 17, nullptr);
    };
    memory = static_cast<std::byte*>(card.memory.allocate(kBytes));
    card.memory.fill(memory, 0, kBytes);
  }
  // A kernel with this body: %rd1 is memory of zeros, %r1 the number of the thread in its block, %r2 of the block.
  // Returns cycles.
  double cycles(const std::string& body, unsigned blocks = 1, unsigned threads = 32) {
    const std::string name = "kernel" + std::to_string(number++);
    card.load(
        ".extern .shared .align 16 .b8 words[];\n.entry " + name + "(.param .u64 " + name +
        "_p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<400>;\n.reg .f32 %f<400>;\n.reg .f64 %d<99>;\n"
        ".reg .b64 %rd<999>;\nld.param.u64 %rd1, [" +
        name +
        "_p];\nmov.u32 %r1, %tid.x;\n"
        "mov.u32 %r2, %ctaid.x;\nmov.f32 %f1, 0f3F800000;\nmov.f64 %d1, 0d3FF0000000000000;\n" +
        body + "ret;\n}\n");
    trace.clear();
    const void* const list[] = {&memory};
    card.launch(name, {{blocks, 1}, threads, 4096}, list);
    return timed.cycles;
  }
  static std::string repeated(int n, const std::function<std::string(int)>& line) {
    std::string all;
    for (int k = 0; k < n; ++k) all += line(k);
    return all;
  }
  static std::string chain(int n, const std::string& opcode = "add.f32",
                           const std::string& r = "%f1") {
    return repeated(n, [&](int) { return opcode + " " + r + ", " + r + ", " + r + ";\n"; });
  }
  // Each load gives the address of the next one: memory is zeros, and lines are far apart.
  static std::string chase(int n, const std::string& opcode = "ld.global.u64") {
    return repeated(n, [&](int k) {
      const std::string at = "%rd" + std::to_string(k + 2);
      return opcode + " " + at + ", [%rd1+" + std::to_string(512 * k) + "];\nadd.s64 %rd1, %rd1, " +
             at + ";\n";
    });
  }
  double spent(Spent what) const { return timed.spent[static_cast<std::size_t>(what)]; }

  static constexpr std::uint64_t kBytes = 1 << 16;
  Machine card;
  Counter counter;
  Trace trace;
  Latencies latencies = simple();
  Timed timed;
  std::byte* memory;
  int number = 0, resident_blocks = 32;
  bool copied = false;
};

TEST_F(Replay, AWarpWaitsForEachResult) {
  EXPECT_EQ(cycles(chain(200)) - cycles(chain(100)), 400);
  EXPECT_EQ(cycles(chain(60, "add.f64", "%d1")) - cycles(chain(10, "add.f64", "%d1")), 50 * 8);
  EXPECT_EQ(spent(Spent::arithmetic), 9 * 7);  // between one and the next
}

// A scheduler has every fourth of the warps: up to four of them wait no longer than one.
TEST_F(Replay, WarpsIssueWhileOthersWait) {
  for (const unsigned warps : {1u, 4u, 8u, 16u})
    EXPECT_EQ(cycles(chain(200), warps) - cycles(chain(100), warps), 400) << warps;
  EXPECT_EQ(cycles(chain(200), 32) - cycles(chain(100), 32), 800);
  EXPECT_GT(spent(Spent::slot), 0);
}

TEST_F(Replay, UnitsTakeTheirCycles) {
  const auto apart = [](const char* opcode, const char* r, const char* one) {
    return [=](int n) {
      return repeated(n, [=](int k) {
        return std::string(opcode) + " " + r + std::to_string(10 + k) + ", " + one + ", " + one +
               ";\n";
      });
    };
  };
  const auto singles = apart("add.f32", "%f", "%f1"), integers = apart("add.s32", "%r", "%r1"),
             wide = apart("add.f64", "%d", "%d1");
  EXPECT_EQ(cycles(singles(80)) - cycles(singles(40)), 40);
  EXPECT_EQ(cycles(integers(80)) - cycles(integers(40)), 2 * 40);
  EXPECT_EQ(cycles(wide(80)) - cycles(wide(40)), 2 * 40);
  EXPECT_EQ(spent(Spent::unit), 39);
  latencies.more = 1.5;
  EXPECT_EQ(cycles(singles(80)) - cycles(singles(40)), 60);
  latencies.more = 1;
  // two kinds beside each other
  const auto both = [&](int n) {
    return repeated(n, [&](int) { return integers(8) + singles(8); });
  };
  EXPECT_EQ(cycles(both(10)) - cycles(both(5)), 5 * 2 * 8);
}

TEST_F(Replay, LoadsOverlapAndAddressesWait) {
  const auto loads = [](int n) {
    return repeated(n,
                    [](int k) {
                      return "ld.global.u64 %rd" + std::to_string(k + 2) + ", [%rd1+" +
                             std::to_string(512 * k) + "];\n";
                    }) +
           repeated(
               n, [](int k) { return "add.s64 %rd1, %rd1, %rd" + std::to_string(k + 2) + ";\n"; });
  };
  // the last one goes to memory some cycles after the first one
  const double sum = 30 * latencies.arithmetic * 1.5,
               together = cycles(loads(31)) - cycles(loads(1));
  EXPECT_LT(together, sum + 31 * 3);
  const double ten = cycles(chase(10));
  EXPECT_EQ(cycles(chase(30)) - ten, 20 * (latencies.memory + 1.5 * latencies.arithmetic));
  EXPECT_GT(spent(Spent::memory), 29 * latencies.memory);
  // the way of the others, on the same scheduler, is no longer
  EXPECT_LT(cycles(chase(30), 8) - cycles(chase(10), 8), 20 * (latencies.memory + 40));
}

TEST_F(Replay, CachesKeepWhatWasLoaded) {
  const double once = cycles(chase(1) + chase(1));
  EXPECT_EQ(cycles(chase(1) + chase(1) + chase(1)) - once,
            latencies.first_cache + 1.5 * latencies.arithmetic);
  EXPECT_GT(spent(Spent::first_cache), 60);
  // 64 KiB do not fit beside each other where another launch left them: that is the second cache's
  EXPECT_EQ(spent(Spent::second_cache), 0);
}

TEST_F(Replay, CopiesHaveMemoryOfTheirOwn) {
  const double alone = cycles(chase(10)), waited = spent(Spent::memory);
  copied = true;
  EXPECT_LT(cycles(chase(10)), alone + 40);
  EXPECT_NEAR(spent(Spent::memory), 2 * waited, 40);
}

TEST_F(Replay, BanksTakeWaves) {
  const auto reads = [](int n, int stride) {
    return "mov.u32 %r3, words;\nmul.lo.s32 %r4, %r1, " + std::to_string(stride) +
           ";\nadd.s32 %r3, %r3, %r4;\nmov.u32 %r5, 0;\nst.shared.u32 [%r3], %r5;\n" +
           repeated(n, [](int) {
             return std::string("ld.shared.u32 %r5, [%r3];\nadd.s32 %r3, %r3, %r5;\n");
           });
  };
  const double one = cycles(reads(30, 4)) - cycles(reads(10, 4));
  EXPECT_EQ(one, 20 * (latencies.shared + latencies.arithmetic));
  EXPECT_EQ(cycles(reads(30, 16)) - cycles(reads(10, 16)) - one, 20 * 3 * 2);  // four waves
}

TEST_F(Replay, LoadsComeEarlyButNotPastStores) {
  const std::string load = "ld.global.u64 %rd2, [%rd1+4096];\nadd.s64 %rd3, %rd2, %rd2;\n",
                    store = "st.global.u64 [%rd4], %rd1;\n", zero = "mov.u64 %rd5, 0;\n",
                    pointer = "add.s64 %rd4, %rd1, %rd5;\n";
  latencies.second_cache = latencies.memory = latencies.first_cache;
  EXPECT_LT(cycles(chain(28) + load), 28 * 4 + 20);
  EXPECT_LT(cycles(zero + chain(28, "add.s64", "%rd5") + pointer + load), 28 * 6 + 30);
  EXPECT_GT(cycles(zero + chain(28, "add.s64", "%rd5") + pointer + store + load),
            28 * 6 + latencies.first_cache);
}

// Whatever comes first in the text, the longest chain of a block goes on as soon as it can, and others between.
TEST_F(Replay, TheLongestChainOfABlockComesFirst) {
  const std::string apart =
                        repeated(20,
                                 [](int k) {
                                   return "add.f32 %f" + std::to_string(k + 9) + ", %f2, %f2;\n";
                                 }),
                    start = "mov.f32 %f2, 0f3F800000;\n";
  const double alone = cycles(chain(12));
  EXPECT_LT(cycles(start + apart + chain(12)), alone + 8);
  EXPECT_LT(cycles(start + chain(12) + apart), alone + 8);
  EXPECT_LT(cycles(start + chain(12) + chain(12, "add.f32", "%f2")), alone + 8);
}

TEST_F(Replay, BranchesAndInstructionsTakeTime) {
  const auto loop = [](int n) {
    return "mov.u32 %r3, 0;\n$L_" + std::to_string(n) +
           ":\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, " + std::to_string(n) +
           ";\n@%p1 bra $L_" + std::to_string(n) + ";\n";
  };
  // a sum, a comparison, a branch
  const double ten = cycles(loop(10));
  EXPECT_EQ(cycles(loop(30)) - ten, 20 * (4 + 6 + latencies.taken));
  EXPECT_EQ(spent(Spent::branch), 29 * (latencies.taken - 2));
  latencies.fetch = 250;
  // 80 instructions of 16 bytes are ten lines, which other warps find there
  const double more = cycles(chain(160)) - cycles(chain(80));
  EXPECT_NEAR(more, 10 * 250 + 80 * 4 - 10 * 4, 10 * 4);
  EXPECT_NEAR(cycles(chain(160), 4) - cycles(chain(80), 4), more, 10 * 4);
}

// 8192 instructions are in the cache: a second turn of a shorter loop finds all of them, of a longer one none.
TEST_F(Replay, CodeBeyondItsCacheIsFetchedEachTime) {
  const auto turns = [](int n, int length) {
    const std::string end = "$L_turns" + std::to_string(n) + "_" + std::to_string(length);
    return "mov.u32 %r3, 0;\n" + end + ":\n" + chain(length) +
           "add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, " + std::to_string(n) + ";\n@%p1 bra " +
           end + ";\n";
  };
  for (const auto& [length, again] : {std::pair(6000, 0), std::pair(9000, 1)}) {
    latencies.fetch = 0;
    const double one = cycles(turns(1, length)), two = cycles(turns(2, length));
    latencies.fetch = 250;
    const double fetched = cycles(turns(1, length)) - one,
                 refetched = cycles(turns(2, length)) - two;
    EXPECT_NEAR(fetched, length / 8 * 250, 0.02 * fetched);
    EXPECT_NEAR(refetched, (1 + again) * fetched, 1000) << length;
  }
}

TEST_F(Replay, ABlockWaitsForItsSlowestWarp) {
  const std::string slow =
      "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra $L_fast;\n" + chain(200) + "$L_fast:\nbar.sync 0;\n";
  const double one = cycles(slow, 1, 64);
  EXPECT_GT(spent(Spent::barrier), 700);
  EXPECT_NEAR(one, 200 * 4, 60);
}

TEST_F(Replay, BlocksStartWhereOthersLeft) {
  resident_blocks = 2;
  EXPECT_NEAR(cycles(chain(200), 6), 3 * cycles(chain(200), 2), 10);
}

// A multiprocessor has its share of all blocks; where the longest one starts last, it ends last.
TEST_F(Replay, KernelsLastAsLongAsAMultiprocessorNeedsForItsShare) {
  const std::string name = "kernel" + std::to_string(number),
                    longer = "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra $L_short;\n" + chain(400) +
                             "$L_short:\n" + chain(100);
  const double one = cycles(chain(500)) / latencies.ghz * 1e-3;
  for (const auto& [resident, expected] :
       {std::pair(1, 2.4), std::pair(2, 1.4), std::pair(8, 1.0)}) {
    KernelTimes times(latencies, 2,
                      2 * 132 * 2);  // two blocks stand for four of each multiprocessor
    card.launched = [&](const Module& m, const Function& f, const LaunchSize& size) {
      times.add({name, resident, 0, nullptr}, m, f, size, trace, true);
    };
    cycles(longer, 2);
    const KernelTimes::Kernel& k = times.kernels().begin()->second;
    // two of 500 sums and two of 100: one after the other, the last long one beside a short one, all at a time
    EXPECT_NEAR(k.us - latencies.launch, expected * one, 0.05 * one) << resident;
  }
}

// Each cycle of a resident warp has one cause.
TEST_F(Replay, CyclesAddUp) {
  cycles(chase(5) + chain(50) + chase(5) + chain(20, "add.f64", "%d1"), 1);
  const double sum = std::accumulate(timed.spent.begin(), timed.spent.end(), 0.0);
  EXPECT_NEAR(sum, timed.cycles, 2);
}

}  // namespace
}  // namespace stiction::ptx
