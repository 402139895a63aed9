// A batch and the episodes around it are for one thread at a time: a second caller is rejected.
#pragma once

#include <atomic>
#include <cstdint>

#include "stiction/error.h"

namespace stiction {

// The kind of call that a thread is in. A call of an Env may call its batch, directly or from a
// physics callback in the same thread; every other nested call is rejected.
enum class Inside : int { nothing, env, batch };

class Guard {
 public:
  // Throws Error if another thread is in a call, or this one in a call that allows no nested call.
  // Returns what this thread was inside before.
  Inside enter(Inside what) {
    std::uintptr_t owner = 0;
    if (!owner_.compare_exchange_strong(owner, this_thread(), std::memory_order_acquire)) {
      if (owner != this_thread())
        throw Error(
            "another thread is using this batch: its call has not returned; give each thread a "
            "batch "
            "of its own, or let them take turns under a lock");
      if (what == Inside::env || inside_ == Inside::batch)
        throw Error(
            "called from within another call of the same batch or environments, as from a signal "
            "handler or a physics callback, which may use env.batch but not env itself");
    }
    const Inside before = inside_;
    inside_ = what;
    return before;
  }
  void leave(Inside before) {
    inside_ = before;
    if (before == Inside::nothing) owner_.store(0, std::memory_order_release);
  }

 private:
  static std::uintptr_t this_thread() {
    static thread_local char here;  // its address identifies the thread and is never 0
    return reinterpret_cast<std::uintptr_t>(&here);
  }

  std::atomic<std::uintptr_t> owner_{0};
  Inside inside_ = Inside::nothing;  // of the owner
};

// A call, from entry to exit.
class Visit {
 public:
  explicit Visit(Guard& guard, Inside what = Inside::batch)
      : guard_(guard), before_(guard.enter(what)) {}
  ~Visit() { guard_.leave(before_); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Guard& guard_;
  Inside before_;
};

}  // namespace stiction
