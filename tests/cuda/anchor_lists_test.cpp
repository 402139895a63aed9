// Rows of anchors that are listed, wherever the array begins, and what is cleared by the list.
#include "cuda/anchor_lists.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "cuda/emulated_lanes.h"

namespace stiction::test {
namespace {

constexpr float kUntouched = 17.0f;  // around the array

struct Anchors {
  Anchors(int rows, int room, std::size_t begin)
      : quads(200), list(static_cast<std::size_t>(room)) {
    float* const memory = &quads[0].x;
    std::fill_n(memory, 4 * quads.size(), kUntouched);
    x = memory + 4 + begin;
    std::fill_n(x, 3 * rows, 0.0f);
    m.nanchor = rows, m.nslot = rows, m.nanchorrowlist = room;
    e.anchor = x, e.anchor_row = list.data(), e.nanchorrow = &count, e.npoint = &npoint;
    e.point_slot = points;
  }
  Anchors(const Anchors&) = delete;
  // By all groups; whether any thread has seen a number that is not finite.
  template <class Group>
  bool look(LanesShared& shared) {
    bool infinite = false;
    on_lanes<Group>(shared, [&](const auto& team) {
      if (team.any(list_anchors(team, m, e)) && team.group().rank() == 0) infinite = true;
    });
    return infinite;
  }
  template <class Group>
  void clear(LanesShared& shared, bool moves) {
    on_lanes<Group>(shared, [&](const auto& team) { clear_anchors(team, m, e, moves); });
  }
  std::set<int> listed() const {
    return {list.begin(), list.begin() + std::min(count, static_cast<int>(list.size()))};
  }
  bool around_is_untouched() const { return x[-1] == kUntouched && x[3 * m.nanchor] == kUntouched; }

  std::vector<physics::Quad> quads;
  std::vector<int> list;
  float* x;
  int count = -1, npoint = 2, points[2] = {1, 0};
  physics::ModelView m{};
  physics::EnvView<float> e{};
};

template <class F>
void on_groups(const F& f) {
  for (const int lanes : kTiles) {
    LanesShared tile(1, lanes);
    f(
        tile, [](Anchors& a, LanesShared& s) { return a.look<EmulatedTile>(s); },
        [](Anchors& a, LanesShared& s, bool moves) { a.clear<EmulatedTile>(s, moves); });
  }
  LanesShared block(2);
  f(
      block, [](Anchors& a, LanesShared& s) { return a.look<EmulatedBlock>(s); },
      [](Anchors& a, LanesShared& s, bool moves) { a.clear<EmulatedBlock>(s, moves); });
}

TEST(AnchorLists, HaveTheRowsThatAreNotZero) {
  std::mt19937 random(1);
  on_groups([&](LanesShared& shared, const auto& look, const auto& clear) {
    for (const int rows : {1, 2, 3, 70, 230})
      for (std::size_t begin = 0; begin < 4; ++begin)
        for (const int some : {0, 1, 3, 9}) {
          Anchors a(rows, 3 * rows + 8, begin);
          std::set<int> wanted;
          for (int k = 0; k < some; ++k) {
            const int number = static_cast<int>(random() % static_cast<unsigned>(3 * rows));
            a.x[number] = k % 2 == 0 ? -0.0f : 0.5f;
            wanted.insert(number / 3);
          }
          EXPECT_FALSE(look(a, shared));
          const std::set<int> listed = a.listed();
          for (const int row : wanted) EXPECT_TRUE(listed.contains(row)) << row;
          // a quad is of two rows
          EXPECT_LE(listed.size(), 2 * static_cast<std::size_t>(some));
          for (const int row : listed) EXPECT_TRUE(row >= 0 && row < rows) << row;

          clear(a, shared, false);
          EXPECT_EQ(a.listed(), listed);
          clear(a, shared, true);
          for (int k = 0; k < 3 * rows; ++k) EXPECT_EQ(std::bit_cast<std::uint32_t>(a.x[k]), 0u);
          EXPECT_EQ(a.listed(), (std::set<int>{0, 1}));
          EXPECT_TRUE(a.around_is_untouched());
        }
  });
}

TEST(AnchorLists, WithoutRoomAreAllRows) {
  on_groups([](LanesShared& shared, const auto& look, const auto& clear) {
    for (const int room : {0, 10}) {
      Anchors a(70, room, 1);
      std::iota(a.x, a.x + 210, 1.0f);
      EXPECT_FALSE(look(a, shared));
      if (room > 0) {
        EXPECT_GT(a.count, room);
      }
      clear(a, shared, true);
      for (int k = 0; k < 210; ++k) EXPECT_EQ(a.x[k], 0.0f);
      EXPECT_TRUE(a.around_is_untouched());
    }
  });
}

TEST(AnchorLists, SeeWhatIsNotFinite) {
  on_groups([](LanesShared& shared, const auto& look, const auto&) {
    for (std::size_t begin = 0; begin < 4; ++begin)
      for (int number = 0; number < 210; ++number) {
        Anchors a(70, number % 3 == 0 ? 0 : 70, begin);
        a.x[number] = number % 2 == 0 ? std::numeric_limits<float>::infinity()
                                      : std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(look(a, shared)) << number;
      }
  });
}

}  // namespace
}  // namespace stiction::test
