// Threads that wait for the next run of a batch. A run allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace stiction::cpu {

// Number of processors this process may use.
int available_processors();

class ThreadPool {
 public:
  // `size` parts run at once: the caller's thread and size - 1 more.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // f(part) for every part in [0, size), part 0 on the caller's thread. f must not throw.
  template <class F>
  void run(const F& f) {
    run([](const void* data, int part) { (*static_cast<const F*>(data))(part); }, &f);
  }
  // The same, all parts on the caller's thread.
  template <class F>
  void run_here(const F& f) {
    run_here([](const void* data, int part) { (*static_cast<const F*>(data))(part); }, &f);
  }

 private:
  using Job = void (*)(const void* data, int part);
  struct Shared {
    std::atomic<std::uint32_t> generation{0}, pending{0};
    Job job = nullptr;  // nullptr: end
    const void* data = nullptr;
    std::vector<std::thread> threads;
  };

  void run(Job job, const void* data);
  void run_here(Job job, const void* data);
  void start();
  static void work(Shared& shared, int part);

  int size_;
  std::int64_t process_ = 0;  // that started the threads
  std::unique_ptr<Shared> shared_;
};

}  // namespace stiction::cpu
