// The collectives of a tile and of a block against those of one lane.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cuda/emulated_lanes.h"
#include "physics/law/contact_law.h"

namespace stiction::test {
namespace {

using physics::TeamOfOne;

constexpr int kSizes[] = {0, 1, 31, 32, 33, 100, 300};

// f(run, lanes): run(text) executes text(team) on every lane of a group.
template <class F>
void on_every_group(const F& f) {
  for (const int lanes : kTiles) {
    LanesShared tile(1, lanes);
    f([&](const auto& text) { on_lanes<EmulatedTile>(tile, text); }, lanes);
  }
  for (const int warps : {1, 2, 4}) {
    LanesShared block(warps);
    f([&](const auto& text) { on_lanes<EmulatedBlock>(block, text); }, 32 * warps);
  }
}

float value(int i) {
  return std::sin(0.7f * static_cast<float>(i)) + 0.1f;
}

TEST(GroupTeam, EveryIndexOnceAndAllSeeIt) {
  on_every_group([](const auto& run, int lanes) {
    for (const int n : kSizes) {
      std::vector<int> visits(static_cast<std::size_t>(n) + 1),
          seen(static_cast<std::size_t>(lanes));
      run([&](const auto& team) {
        team.for_each(n, [&](int i) { ++visits[static_cast<std::size_t>(i)]; });
        int total = 0;
        for (int i = 0; i <= n; ++i) total += visits[static_cast<std::size_t>(i)];
        seen[static_cast<std::size_t>(team.group().rank())] = total;
      });
      for (int i = 0; i < n; ++i) EXPECT_EQ(visits[static_cast<std::size_t>(i)], 1);
      for (const int s : seen) EXPECT_EQ(s, n);
    }
  });
}

TEST(GroupTeam, SumsAndMaximaAreThoseOfOneLaneAndTheSameBitsInAll) {
  on_every_group([](const auto& run, int lanes) {
    for (const int n : kSizes) {
      std::vector<float> sums(static_cast<std::size_t>(lanes)), largest = sums, none = sums;
      run([&](const auto& team) {
        const auto rank = static_cast<std::size_t>(team.group().rank());
        sums[rank] = team.template sum<float>(n, value);
        largest[rank] = team.template max<float>(n, value);
        none[rank] = team.template max<float>(n, [](int i) { return -1.0f - value(i); });
      });
      for (const float s : sums) EXPECT_EQ(std::memcmp(&s, &sums[0], sizeof s), 0);
      // n roundings of sums of at most n
      const float exact = TeamOfOne().sum<float>(n, value);
      EXPECT_NEAR(sums[0], exact, 1e-7 * n * n);
      for (const float x : largest) EXPECT_EQ(x, TeamOfOne().max<float>(n, value));
      for (const float x : none) EXPECT_EQ(x, 0.0f);
    }
  });
}

TEST(GroupTeam, AnyIndexIsFoundByAll) {
  on_every_group([](const auto& run, int lanes) {
    for (const int n : kSizes)
      for (const int wanted : {-1, 0, n / 2, n - 1, n}) {
        std::vector<int> found(static_cast<std::size_t>(lanes));
        run([&](const auto& team) {
          found[static_cast<std::size_t>(team.group().rank())] =
              team.any(n, [&](int i) { return i == wanted; });
        });
        for (const int f : found) EXPECT_EQ(f, wanted >= 0 && wanted < n ? 1 : 0) << n;
      }
  });
}

// So that the number of lanes may follow the model and the number of environments.
TEST(GroupTeam, TheLanesOfATileChangeNoBitOfASum) {
  for (const int n : kSizes) {
    std::vector<float> sums;
    for (const int lanes : kTiles)
      on_tile(lanes, [&](const auto& team) {
        const float sum = team.template sum<float>(n, value);
        if (team.group().rank() == 0) sums.push_back(sum);
      });
    for (const float s : sums) EXPECT_EQ(std::memcmp(&s, &sums[0], sizeof s), 0) << n;
  }
}

TEST(GroupTeam, SumsOfDoublesAndOfPairs) {
  using Pair = physics::LineValue<float>;
  on_every_group([](const auto& run, int lanes) {
    std::vector<double> sums(static_cast<std::size_t>(lanes));
    std::vector<Pair> pairs(sums.size(), Pair(0.0));
    run([&](const auto& team) {
      const auto rank = static_cast<std::size_t>(team.group().rank());
      sums[rank] = team.template sum<double>(100, [](int i) { return 1.0 / (1 << (i % 30)); });
      pairs[rank] = team.template sum<Pair>(
          100, [](int i) { return Pair(static_cast<float>(i), static_cast<float>(-2 * i)); });
    });
    const double exact = TeamOfOne().sum<double>(100, [](int i) { return 1.0 / (1 << (i % 30)); });
    for (const double s : sums) EXPECT_EQ(s, exact);  // a sum of few powers of two is exact
    for (const Pair& p : pairs) {
      EXPECT_EQ(p.slope, 4950.0f);
      EXPECT_EQ(p.curvature, -9900.0f);
    }
  });
}

TEST(GroupTeam, CompactsInRisingOrder) {
  on_every_group([](const auto& run, int lanes) {
    for (const int n : kSizes)
      for (const int every : {1, 2, 7, 1000}) {
        const auto keep = [&](int i) { return (i + 1) % every == 0; };
        std::vector<int> list(static_cast<std::size_t>(n) + 1, -7),
            expected = list, count(static_cast<std::size_t>(lanes));
        run([&](const auto& team) {
          count[static_cast<std::size_t>(team.group().rank())] = team.compact(n, list.data(), keep);
        });
        const int kept = TeamOfOne().compact(n, expected.data(), keep);
        EXPECT_EQ(list, expected);
        for (const int c : count) EXPECT_EQ(c, kept);
      }
  });
}

TEST(GroupTeam, OnceIsDoneByOneAndSeenByAll) {
  on_every_group([](const auto& run, int lanes) {
    int times = 0;
    std::vector<int> seen(static_cast<std::size_t>(lanes));
    run([&](const auto& team) {
      team.once([&] { ++times; });
      seen[static_cast<std::size_t>(team.group().rank())] = times;
    });
    for (const int s : seen) EXPECT_EQ(s, 1);
  });
}

// What follows a collective may overwrite what was read before it.
TEST(GroupTeam, CollectivesInARowDoNotMix) {
  on_every_group([](const auto& run, int lanes) {
    std::vector<int> wrong(static_cast<std::size_t>(lanes));
    run([&](const auto& team) {
      for (int k = 1; k < 20; ++k) {
        const float s = team.template sum<float>(k, [](int) { return 1.0f; });
        const float x = team.template max<float>(k, [](int i) { return static_cast<float>(i); });
        if (s != static_cast<float>(k) || x != static_cast<float>(k - 1))
          ++wrong[static_cast<std::size_t>(team.group().rank())];
      }
    });
    for (const int w : wrong) EXPECT_EQ(w, 0);
  });
}

}  // namespace
}  // namespace stiction::test
