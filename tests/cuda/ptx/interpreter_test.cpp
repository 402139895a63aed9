// The interpreter on PTX that is written by hand: what it computes, and what it does not let pass.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "cuda/ptx/machine.h"
#include "data.h"

namespace stiction::ptx {
namespace {

using testing::HasSubstr;

class Ptx : public testing::Test {
 protected:
  Ptx() {
    std::ifstream file(test::small_ptx());
    std::ostringstream text;
    text << file.rdbuf();
    card.load(text.str());
  }
  template <class T>
  T* upload(const std::vector<T>& numbers) {
    T* const p = static_cast<T*>(card.memory.allocate(numbers.size() * sizeof(T)));
    card.memory.copy(p, numbers.data(), numbers.size() * sizeof(T));
    return p;
  }
  template <class... Arguments>
  void launch(const char* kernel, unsigned blocks, unsigned threads,
              const Arguments&... arguments) {
    const void* const list[] = {&arguments..., nullptr};
    card.launch(kernel, {{blocks, 1}, threads, 1024}, list);
  }
  static std::string fault(const std::function<void()>& f) {
    try {
      f();
    } catch (const Fault& found) {
      return found.what();
    }
    return "";
  }
  Machine card;
};

TEST_F(Ptx, SomeLanesCallAFunction) {
  std::vector<float> x;
  for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>(i % 3 == 0 ? -i : i));
  float* const p = upload(x);
  launch("calls", 1, 32, p);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(p[i], x[i] < 0 ? -x[i] : 2 * x[i]) << i;
}

// Whether at once or through another function.
TEST_F(Ptx, AFunctionThatCallsItselfIsRefused) {
  const auto calling = [](const std::string& name, const std::string& callee) {
    return ".func " + name + "()\n{\n\tcall.uni\n\t" + callee + ";\n\tret;\n}\n";
  };
  const auto refused = [](const std::string& text) {
    return fault([&] { ptx::Module module(text); });
  };
  EXPECT_THAT(refused(calling("once", "once")), HasSubstr("once calls itself"));
  EXPECT_THAT(refused(calling("first", "second") + calling("second", "first")),
              HasSubstr("first calls itself"));
  EXPECT_EQ(refused(calling("first", "second") + ".func second()\n{\n\tret;\n}\n"), "");
}

// In either order of the operands, of either sign; other comparisons and 32 bits are right.
TEST_F(Ptx, AnExtremeThatIsComparedWithItsConstantIsRefused) {
  const auto comparing = [&](const std::string& extreme, const std::string& compare,
                             const std::string& operands, const std::string& type = "16") {
    return fault([&] {
      ptx::Module module(".func f()\n{\n\t.reg .pred %p<2>;\n\t.reg .b" + type +
                         " %r<3>;\n\tmov.u" + type + " %r1, 3;\n\t" + extreme + type +
                         " %r2, %r1, 1;\n\t" + compare + type + " %p1, " + operands +
                         ";\n\tret;\n}\n");
    });
  };
  EXPECT_THAT(comparing("max.u", "setp.eq.s", "%r2, 1"), HasSubstr("with its own constant"));
  EXPECT_THAT(comparing("min.s", "setp.eq.u", "1, %r2"), HasSubstr("with its own constant"));
  EXPECT_EQ(comparing("max.u", "setp.eq.s", "%r2, 2"), "");
  EXPECT_EQ(comparing("max.u", "setp.ne.s", "%r2, 1"), "");
  EXPECT_EQ(comparing("max.u", "setp.eq.s", "%r2, 1", "32"), "");
}

TEST_F(Ptx, LanesMeetAfterLoopsOfTheirOwnLengths) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(96));
  launch("loops", 1, 96, p);
  // 0 + ... + 31, and eleven lanes are beyond 20
  for (int i = 0; i < 96; ++i) EXPECT_EQ(p[i], 496u + 11u) << i;
}

TEST_F(Ptx, WhoIsFirstAtABarrierWaits) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(32));
  launch("rounds", 1, 32, p);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(p[i], (i ^ 1) + 15) << i;
}

TEST_F(Ptx, ShufflesStayInTheirSegments) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(32));
  launch("segments", 1, 32, p);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(p[i], i / 8 * 8 + 7) << i;
}

TEST_F(Ptx, EachLaneHasMemoryOfItsOwn) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(64));
  launch("own_memory", 1, 64, p);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(p[i], i);
}

TEST_F(Ptx, NumbersAreThoseOfThePtxManual) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(19));
  const auto number = [&](int i) {
    float x;
    std::memcpy(&x, p + i, sizeof x);
    return x;
  };
  const std::int32_t a = -2147483600, b = -77;
  const float x = -2.5f, y = 1e10f;
  launch("numbers", 1, 1, p, a, b, x, y);
  EXPECT_EQ(p[0], static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  const std::int64_t product = std::int64_t{a} * b;
  EXPECT_EQ(p[1], static_cast<std::uint32_t>(product));
  EXPECT_EQ(p[2], static_cast<std::uint32_t>(product >> 32));
  EXPECT_EQ(static_cast<std::int32_t>(p[3]), a / b);
  EXPECT_EQ(static_cast<std::int32_t>(p[4]), a % b);
  EXPECT_EQ(p[5], ~0u);  // shifts beyond the width: signs, or zeros
  EXPECT_EQ(p[6], 0u);
  EXPECT_EQ(p[7], 1u);
  EXPECT_EQ(p[8], (static_cast<std::uint32_t>(a) & 0xffff) * 3);
  EXPECT_EQ(number(9), std::fma(x, x, y));
  EXPECT_EQ(number(10), x / y);
  EXPECT_EQ(number(11), 6.25f);
  EXPECT_EQ(number(12), -2.0f);  // to even
  EXPECT_EQ(p[13], std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(p[14], 2u);  // of no number: geu is true, ne is not
  EXPECT_EQ(number(15), x);
  EXPECT_EQ(number(16), x);
  EXPECT_EQ(number(17), -x);  // the sign of y on the size of x
  EXPECT_EQ(p[18], ~0u);      // a load of 32 bits with a sign fills a register of 64
}

TEST_F(Ptx, BlocksAreSharedOutToThreads) {
  card.threads = 4;
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(32 * 32, ~0u));
  launch("places", 32, 32, p);
  for (unsigned i = 0; i < 32 * 32; ++i) EXPECT_EQ(p[i], i);
}

TEST_F(Ptx, AccessesBeyondAnAllocationAreRefused) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>{1, 2, 3});
  std::uint32_t* const q = upload(std::vector<std::uint32_t>{4});
  launch("moves", 1, 1, q, p + 2, 0);
  EXPECT_EQ(q[0], 3u);
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, q, p + 3, 0); }),
              testing::AllOf(HasSubstr("reads 4 bytes of global memory that belong to nothing"),
                             HasSubstr("lane 0"), HasSubstr("ld.global.u32 %r2, [%rd2]"),
                             HasSubstr("(moves)")));
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, q + 1, p, 0); }),
              HasSubstr("writes 4 bytes of global memory that belong to nothing"));
  std::uint32_t here = 0;
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, &here, p, 0); }), HasSubstr("belong to nothing"));
  card.memory.free(p);
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, q, p, 0); }), HasSubstr("belong to nothing"));
}

TEST_F(Ptx, MisalignedAccessesAreRefused) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(4));
  const auto* const odd = reinterpret_cast<std::byte*>(p) + 2;
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, p, odd, 0); }), HasSubstr("misaligned"));
}

// It may be copied, and what it was copied to is as unknown; it must not decide.
TEST_F(Ptx, WhatNobodyWroteDecidesNothing) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>{1});
  auto* const q = static_cast<std::uint32_t*>(card.memory.allocate(8));
  launch("moves", 1, 1, p, q, 0);
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, q + 1, p, 1); }),
              testing::AllOf(HasSubstr("memory that nobody wrote decides"), HasSubstr("bra")));
  card.memory.fill(q, 0, 4);
  launch("moves", 1, 1, p, q, 1);
  EXPECT_EQ(p[0], 0u);
  card.memory.fill(q, 0xff, 4);  // the project's mark of memory that nobody wrote
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, p, q, 1); }), HasSubstr("nobody wrote decides"));
  // shared memory begins unwritten, whatever the block before left there
  std::uint32_t* const x = upload(std::vector<std::uint32_t>(32));
  launch("exchange", 2, 32, x, 32, 1);
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, p, x, 1); }), HasSubstr("nobody wrote decides"));
}

// As a struct is copied, of which not every member was given a value.
TEST_F(Ptx, AWordBesideOneThatNobodyWroteDecides) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(2));
  auto* const q = static_cast<std::uint32_t*>(card.memory.allocate(8));
  card.memory.fill(q, 0, 4);
  launch("moves_two", 1, 1, p, q);
  launch("moves_two", 1, 1, q, p);
  EXPECT_THAT(fault([&] { launch("moves_two", 1, 1, q, p + 1); }), HasSubstr("misaligned"));
  launch("moves", 1, 1, q, p, 1);
  EXPECT_THAT(fault([&] { launch("moves", 1, 1, q, p + 1, 1); }),
              HasSubstr("nobody wrote decides"));
}

TEST_F(Ptx, RacesInAWarpAreSeen) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(64));
  card.races = true;
  EXPECT_THAT(fault([&] { launch("exchange", 1, 32, p, 1, 0); }),
              testing::AllOf(HasSubstr("a race: reads what lane 1 of warp 0 wrote"),
                             HasSubstr("st.shared.u32 [%r6], %r3")));
  launch("exchange", 1, 32, p, 1, 1);
  EXPECT_EQ(p[4], 5u);
  launch("exchange", 1, 32, p, 1, 2);
  launch("exchange", 1, 32, p, 0, 0);  // each its own
  launch("calls", 1, 32, p);
}

TEST_F(Ptx, RacesBetweenWarpsAreSeen) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(64));
  card.races = true;
  // the second warp writes what the first one has read, whose barrier was its own
  EXPECT_THAT(fault([&] { launch("exchange", 1, 64, p, 32, 1); }),
              HasSubstr("a race: writes what lane 0 of warp 0 read"));
  launch("exchange", 1, 64, p, 32, 2);
  EXPECT_EQ(p[33], 1u);
}

TEST_F(Ptx, RacesBetweenBlocksAreSeen) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(1, 7));
  launch("blocks_meet", 2, 1, p);
  card.races = true;
  EXPECT_THAT(fault([&] { launch("blocks_meet", 2, 1, p); }), HasSubstr("of another block wrote"));
}

TEST_F(Ptx, LanesThatWaitForEachOtherForEverAreSeen) {
  EXPECT_THAT(fault([&] { launch("apart", 1, 32); }),
              testing::AllOf(HasSubstr("wait for each other for ever"),
                             HasSubstr("bar.warp.sync -1"), HasSubstr("bar.sync 0")));
}

TEST_F(Ptx, MemoryIsCounted) {
  Counter counter;
  counter.resize(1 << 14, 1 << 16);
  card.counter = &counter;
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(32));
  launch("exchange", 1, 32, p, 1, 1);
  const Counts& c = counter.counts;
  EXPECT_EQ(c.warp_instructions, 21u);
  EXPECT_EQ(c.lane_instructions, 20u * 32u);  // a branch that nobody takes has no lanes
  EXPECT_EQ(c.shared_requests, 2u);
  EXPECT_EQ(c.shared_waves, 2u);
  EXPECT_EQ(c.global_requests, 1u);
  EXPECT_EQ(c.global_sectors, 4u);  // 32 words of four bytes
  EXPECT_EQ(c.l2_sectors, 4u);
  EXPECT_EQ(c.hbm_sectors, 0u);  // they stay in the second cache
  EXPECT_EQ(c.divergent, 0u);
  launch("exchange", 1, 32, p, 1, 1);
  EXPECT_EQ(c.global_sectors, 8u);
}

TEST_F(Ptx, BytesAndBitsAreThoseOfThePtxManual) {
  std::uint32_t* const p = upload(std::vector<std::uint32_t>(6));
  const std::uint32_t a = 0x00c2b1a0, b = 0xd7e6f584;
  launch("bits", 1, 1, p, a, b);
  EXPECT_EQ(p[0], 0xd7e6a084);  // selector 0x7604
  EXPECT_EQ(p[1], 0xffc2c2ff);  // 0xc228: signs of bytes 4 and 0 around byte 2, twice
  EXPECT_EQ(p[2], 0x058d4300u);
  EXPECT_EQ(p[3], 8u);
  EXPECT_EQ(p[4], 0xd7e61a04);   // 0x1a0 from bit 4 on
  EXPECT_EQ(p[5], 0x07e6f584u);  // 0 from bit 28 on, and no farther
}

TEST_F(Ptx, WhatItDoesNotKnowIsNamed) {
  Machine other;
  EXPECT_THAT(fault([&] {
                other.load(".entry f()\n{\n.reg .b32 %r<2>;\nfns.b32 %r1, %r0;\nret;\n}\n");
                other.launch("f", {{1, 1}, 32, 0}, nullptr);
              }),
              HasSubstr("PTX line 4: no opcode fns.b32"));
  EXPECT_THAT(fault([&] {
                other.launch("g", {{1, 1}, 32, 0}, nullptr);
              }),
              HasSubstr("no kernel g"));
}

}  // namespace
}  // namespace stiction::ptx
