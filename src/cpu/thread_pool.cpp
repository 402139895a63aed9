#include "cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stiction::cpu {
namespace {

constexpr int kSpins = 2000;  // some microseconds, the pause between two steps of a busy batch

void pause() {
#if defined(__SSE2__)
  _mm_pause();
#endif
}

// Blocks until the value differs from `old`; spins first.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    const std::uint32_t now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

// Rounding and denormals as the language has them, whatever the program has set for its own
// computations: the bits of a step must not depend on it.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
#if defined(__SSE2__)
    old_ = _mm_getcsr();
    _mm_setcsr(0x1f80);
#endif
  }
  ~DefaultArithmetic() {
#if defined(__SSE2__)
    _mm_setcsr(old_);
#endif
  }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  [[maybe_unused]] unsigned old_ = 0;
};

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int size) : size_(size) {
  start();
}

ThreadPool::~ThreadPool() {
  if (process_ != getpid()) {
    // a forked child: the threads stayed in the parent
    static_cast<void>(shared_.release());
    return;
  }
  shared_->job = nullptr;
  shared_->generation.fetch_add(1, std::memory_order_release);
  shared_->generation.notify_all();
  for (std::thread& t : shared_->threads) t.join();
}

void ThreadPool::start() {
  process_ = getpid();
  shared_ = std::make_unique<Shared>();
  shared_->threads.reserve(static_cast<std::size_t>(size_ - 1));
  // signals belong to the program's own threads
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int part = 1; part < size_; ++part)
      shared_->threads.emplace_back([s = shared_.get(), part] { work(*s, part); });
  } catch (...) {
    // fewer threads than asked for: the caller's thread does the rest
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::work(Shared& s, int part) {
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(s.generation, seen);
    if (s.job == nullptr) return;
    {
      const DefaultArithmetic arithmetic;
      s.job(s.data, part);
    }
    if (s.pending.fetch_sub(1, std::memory_order_acq_rel) == 1) s.pending.notify_one();
  }
}

void ThreadPool::run_here(Job job, const void* data) {
  const DefaultArithmetic arithmetic;
  for (int part = 0; part < size_; ++part) job(data, part);
}

void ThreadPool::run(Job job, const void* data) {
  if (process_ != getpid()) {
    static_cast<void>(shared_.release());
    start();
  }
  Shared& s = *shared_;
  const int others = static_cast<int>(s.threads.size());
  s.job = job, s.data = data;
  s.pending.store(static_cast<std::uint32_t>(others), std::memory_order_relaxed);
  s.generation.fetch_add(1, std::memory_order_release);
  if (others > 0) s.generation.notify_all();
  {
    const DefaultArithmetic arithmetic;
    job(data, 0);
    for (int part = others + 1; part < size_; ++part) job(data, part);
  }
  std::uint32_t left = s.pending.load(std::memory_order_acquire);
  while (left != 0) left = wait_for_change(s.pending, left);
}

}  // namespace stiction::cpu
