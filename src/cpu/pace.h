// How many threads a kind of work is worth, found by measuring.
#pragma once

#include <array>

namespace stiction::cpu {

// Beside other work on the machine a thread that was put aside in the middle of an item keeps the
// others waiting, often for longer than the whole run would take one of them; and short runs are over
// before a sleeping thread is awake. Neither can be known beforehand, so the numbers of threads 1, 2,
// 4, ... `most` are compared by the work that they do in a second: mostly the best so far is used,
// sometimes for a short while the next smaller or larger one.
class Pace {
 public:
  explicit Pace(int most);

  // For the next run.
  int threads() const { return count(trying_ >= 0 ? trying_ : best_); }
  // A run did so much work, in any unit that is the same for all runs, with threads() threads.
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
  int best_, trying_ = -1;  // trying_ < 0: no
  bool smaller_ = true;     // the next one to be tried
  int runs_ = 0;            // of this try
  double since_ = 0;        // seconds since the last try
  double period_;           // seconds until the next
  std::array<Rate, kLevels> rates_{};
};

}  // namespace stiction::cpu
