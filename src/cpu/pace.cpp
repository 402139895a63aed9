#include "cpu/pace.h"

#include <algorithm>

namespace stiction::cpu {
namespace {

// Memory of a rate: a few time slices of a busy scheduler, which are 3 to 50 ms.
constexpr double kMemory = 0.4;
// Duration of a trial, in seconds and in runs.
constexpr double kTry = 0.03;
constexpr int kTryRuns = 3;
// Seconds between trials: short while conditions change, then 1.5 % of the time.
constexpr double kShortest = 0.1, kLongest = 2;
constexpr double kBetter = 1.05;

}  // namespace

Pace::Pace(int most) : most_(std::max(1, most)), levels_(1), period_(kShortest) {
  while (count(levels_ - 1) < most_) ++levels_;
  best_ = levels_ - 1;
}

int Pace::count(int level) const {
  return std::min(most_, 1 << level);
}

void Pace::add(double work, double seconds) {
  if (levels_ == 1) return;
  Rate& r = rates_[static_cast<std::size_t>(trying_ >= 0 ? trying_ : best_)];
  r.work += work, r.seconds += seconds;
  if (trying_ >= 0) {
    if (++runs_ >= kTryRuns && r.seconds >= kTry) judge();
    return;
  }
  if (r.seconds > kMemory) r.work /= 2, r.seconds /= 2;
  since_ += seconds;
  if (since_ < period_) return;
  smaller_ = best_ == 0 ? false : best_ == levels_ - 1 ? true : !smaller_;
  trying_ = smaller_ ? best_ - 1 : best_ + 1;
  rates_[static_cast<std::size_t>(trying_)] = {};
  runs_ = 0;
}

void Pace::judge() {
  const double found = rates_[static_cast<std::size_t>(trying_)].value();
  const bool better = found > kBetter * rates_[static_cast<std::size_t>(best_)].value();
  if (better) best_ = trying_;
  period_ = better ? kShortest : std::min(kLongest, 2 * period_);
  trying_ = -1, since_ = 0;
}

}  // namespace stiction::cpu
