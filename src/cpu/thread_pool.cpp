#include "cpu/thread_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/buffer.h"

namespace stiction::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// How long an idle thread spins before it sleeps. Waking a sleeping thread takes some microseconds,
// and a spinning one takes a processor from threads with work.
constexpr auto kPatience = std::chrono::microseconds(20);

void pause() {
#if defined(__SSE2__)
  _mm_pause();
#endif
}

// Blocks until good(value); returns that value.
template <class Good>
std::uint32_t wait_until(const std::atomic<std::uint32_t>& value, const Good& good) {
  constexpr int kLooks = 32;  // per look at the clock
  const auto end = Clock::now() + kPatience;
  do {
    for (int i = 0; i < kLooks; ++i, pause())
      if (const std::uint32_t now = value.load(std::memory_order_acquire); good(now)) return now;
  } while (Clock::now() < end);
  for (;;) {
    const std::uint32_t now = value.load(std::memory_order_acquire);
    if (good(now)) return now;
    value.wait(now, std::memory_order_acquire);
  }
}

// Sets default rounding and denormals, whatever the program uses for its own computations: the bits
// of a step must not depend on them.
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

// The number of a run and how many of its items are left, in one word: a thread that takes an item
// knows that the run is still the one that it was called for.
constexpr std::uint64_t ticket(std::uint32_t run, int left) {
  return std::uint64_t{run} << 32 | static_cast<std::uint32_t>(left);
}

}  // namespace

struct ThreadPool::Shared {
  // What a helper thread waits for: the number of the run that it is called for.
  struct alignas(kCacheLine) Helper {
    std::atomic<std::uint32_t> called{0};
    std::thread thread;
  };

  explicit Shared(int helpers_wanted) : helpers(static_cast<std::size_t>(helpers_wanted)) {}

  void work(std::uint32_t run, int worker);
  void help(Helper& self, int worker);

  // Written before the ticket, read after an item was taken: so the run is not over then.
  Job job = nullptr;
  const void* data = nullptr;
  int items = 0;
  std::uint32_t run = 0;
  int started = 0;  // threads of `helpers`
  std::atomic<bool> end{false};
  std::vector<Helper> helpers;
  alignas(kCacheLine) std::atomic<std::uint64_t> open{0};  // ticket
  alignas(kCacheLine) std::atomic<std::uint32_t> done{0};  // items of this run
};

// Takes items of that run until none is left.
void ThreadPool::Shared::work(std::uint32_t number, int worker) {
  std::uint64_t now = open.load(std::memory_order_acquire);
  while (now >> 32 == number && static_cast<std::uint32_t>(now) != 0) {
    if (!open.compare_exchange_weak(now, now - 1, std::memory_order_acq_rel)) continue;
    const int all = items;
    job(data, worker, all - static_cast<int>(static_cast<std::uint32_t>(now)));
    if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(all))
      done.notify_one();
    now = open.load(std::memory_order_acquire);
  }
}

void ThreadPool::Shared::help(Helper& self, int worker) {
  const DefaultArithmetic arithmetic;
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_until(self.called, [&](std::uint32_t called) { return called != seen; });
    if (end.load(std::memory_order_acquire)) return;
    work(seen, worker);
  }
}

ThreadPool::ThreadPool(int size) : size_(size) {
  start();
}

ThreadPool::~ThreadPool() {
  if (process_ != getpid()) {
    abandon_in_child();
    return;
  }
  Shared& s = *shared_;
  s.end.store(true, std::memory_order_release);
  for (int i = 0; i < s.started; ++i) {
    Shared::Helper& h = s.helpers[static_cast<std::size_t>(i)];
    h.called.fetch_add(1, std::memory_order_release);
    h.called.notify_one();
    h.thread.join();
  }
}

// Called in a forked child: the threads exist only in the parent.
void ThreadPool::abandon_in_child() {
  static_cast<void>(shared_.release());
}

void ThreadPool::start() {
  process_ = getpid();
  shared_ = std::make_unique<Shared>(size_ - 1);
  Shared& s = *shared_;
  // signals are delivered to the program's own threads
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (Shared::Helper& h : s.helpers) {
      const int worker = s.started + 1;
      h.thread = std::thread([&s, &h, worker] { s.help(h, worker); });
      ++s.started;
    }
  } catch (...) {
    // fewer threads than requested: the existing ones do all the work
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::run(int items, int threads, Job job, const void* data) {
  const DefaultArithmetic arithmetic;
  if (std::min(threads, items) < 2) {
    for (int item = 0; item < items; ++item) job(data, 0, item);
    return;
  }
  if (process_ != getpid()) {
    abandon_in_child();
    start();
  }
  Shared& s = *shared_;
  s.job = job, s.data = data, s.items = items;
  s.done.store(0, std::memory_order_relaxed);
  const std::uint32_t run = ++s.run;
  s.open.store(ticket(run, items), std::memory_order_release);
  const int helpers = std::min({threads - 1, items - 1, s.started});
  for (int i = 0; i < helpers; ++i) {
    Shared::Helper& h = s.helpers[static_cast<std::size_t>(i)];
    h.called.store(run, std::memory_order_release);
    h.called.notify_one();
  }
  s.work(run, 0);
  wait_until(s.done, [&](std::uint32_t done) { return done == static_cast<std::uint32_t>(items); });
}

}  // namespace stiction::cpu
