// Finds by measurement how many threads a kind of work is worth.
#pragma once

#include <array>

namespace stiction::cpu {

// On a busy machine a thread that is preempted in the middle of an item keeps the others waiting, often
// longer than one thread would need for the whole run; and short runs are over before a sleeping
// thread wakes up. Neither can be predicted, so the numbers of threads 1, 2, 4, ... `most` are
// compared by the work they do per second: usually the best so far is used, and occasionally, for a
// short trial, the next smaller or larger one.
class Pace {
 public:
  explicit Pace(int most);

  // Number of threads for the next run.
  int threads() const { return count(trying_ >= 0 ? trying_ : best_); }
  // Reports a run with threads() threads and its work, in any unit that is the same for all runs.
  void add(double work, double seconds);

 private:
  static constexpr int kLevels = 14;  // 4096 threads

  struct Rate {
    double work = 0, seconds = 0;
    double value() const { return seconds > 0 ? work / seconds : 0; }
  };

  int count(int level) const;
  void judge();

  int most_, levels_;
  int best_, trying_ = -1;  // trying_ < 0: no trial
  bool smaller_ = true;     // the next one to try
  int runs_ = 0;            // in this trial
  double since_ = 0;        // seconds since the last trial
  double period_;           // seconds until the next one
  std::array<Rate, kLevels> rates_{};
};

}  // namespace stiction::cpu
