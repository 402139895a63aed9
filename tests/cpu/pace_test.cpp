// The number of threads is the one that gets most done, soon after that changes, and trying others
// costs little.
#include "cpu/pace.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace stiction::cpu {
namespace {

// A machine on which a run of one unit of work takes seconds(threads).
template <class Seconds>
std::map<int, double> spend(Pace& pace, double for_seconds, const Seconds& seconds) {
  std::map<int, double> time;  // by number of threads
  for (double now = 0; now < for_seconds;) {
    const int threads = pace.threads();
    const double s = seconds(threads);
    pace.add(1, s);
    time[threads] += s, now += s;
  }
  return time;
}

TEST(Pace, OneThreadIsOneThread) {
  Pace pace(1);
  EXPECT_EQ(spend(pace, 10, [](int) { return 1e-3; }).size(), 1u);
}

TEST(Pace, KeepsAllThreadsWhereTheyPay) {
  for (const int most : {2, 3, 8, 12}) {
    Pace pace(most);
    EXPECT_EQ(pace.threads(), most);
    const auto time = spend(pace, 60, [](int threads) { return 1e-3 / threads; });
    EXPECT_GT(time.at(most), 0.96 * 60) << most;  // tries: 30 ms in 2 s, more often at first
  }
}

TEST(Pace, FindsFewerWhereTheyAreFaster) {
  Pace pace(8);
  const auto best_at = [](int best) {
    return [best](int threads) { return threads == best ? 1e-3 : 2e-3; };
  };
  spend(pace, 5, best_at(4));
  EXPECT_EQ(pace.threads(), 4);
  // an order in which each step down pays
  spend(pace, 10, [](int threads) { return 1e-3 * threads; });
  EXPECT_GT(spend(pace, 10, [](int threads) { return 1e-3 * threads; }).at(1), 9.0);
}

// The other work ends: more threads are tried again within seconds.
TEST(Pace, ComesBack) {
  Pace pace(2);
  spend(pace, 30, [](int threads) { return threads == 1 ? 1e-3 : 20e-3; });
  EXPECT_EQ(pace.threads(), 1);
  spend(pace, 5, [](int threads) { return 1e-3 / threads; });
  EXPECT_GT(spend(pace, 20, [](int threads) { return 1e-3 / threads; }).at(2), 19.0);
}

// Runs that are mostly short, with a long pause in some: the means decide, not single runs.
TEST(Pace, SeesThroughPauses) {
  Pace pace(2);
  std::mt19937 rng(5);
  const auto busy = [&](int threads) {
    const bool pause = rng() % 100 < (threads == 2 ? 20 : 4);
    return 1e-3 / threads + (pause ? 20e-3 : 0);  // means 4.5 and 1.8 ms
  };
  spend(pace, 5, busy);
  EXPECT_GT(spend(pace, 60, busy)[1], 0.75 * 60);
}

}  // namespace
}  // namespace stiction::cpu
