// Threads that share the items of a run. A run does not allocate.
#pragma once

#include <cstdint>
#include <memory>

namespace stiction::cpu {

class ThreadPool {
 public:
  // At most `size` threads work at once: the caller's and size - 1 others, which sleep between runs.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls f(worker, item) once for every item in [0, items), by at most `threads` threads. Idle threads take
  // the next item, so results must not depend on `worker`, a number in [0, size()) that no two
  // threads have at the same time; the caller's thread is worker 0. A thread that the machine does not
  // schedule takes no items and delays nobody. f must not throw.
  template <class F>
  void run(int items, int threads, const F& f) {
    const Job job = [](const void* data, int worker, int item) {
      (*static_cast<const F*>(data))(worker, item);
    };
    run(items, threads, job, &f);
  }

 private:
  using Job = void (*)(const void* data, int worker, int item);
  struct Shared;

  void run(int items, int threads, Job job, const void* data);
  void start();
  void abandon_in_child();

  int size_;
  std::int64_t process_ = 0;  // of the process that started the threads
  std::unique_ptr<Shared> shared_;
};

}  // namespace stiction::cpu
