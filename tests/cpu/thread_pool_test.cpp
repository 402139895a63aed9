// Every item runs once per run, on threads that survive a fork and leave signals alone.
#include "cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace stiction::cpu {
namespace {

TEST(ThreadPool, EveryItemRunsOncePerRun) {
  for (const int size : {1, 2, 3, 8}) {
    ThreadPool pool(size);
    for (int k = 1; k <= 300; ++k) {
      if (k % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they sleep
      const int items = k % 7 == 0 ? 1000 : k % 10, threads = 1 + k % (size + 1);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(items));
      std::atomic<int> wrong = 0;
      pool.run(items, threads, [&](int worker, int item) {
        if (worker < 0 || worker >= std::min(size, threads)) ++wrong;
        ++runs[static_cast<std::size_t>(item)];
      });
      for (const auto& n : runs) ASSERT_EQ(n, 1) << size << " " << k;
      ASSERT_EQ(wrong, 0);
    }
  }
}

// What a worker has is its own while it works: no two threads have a number at a time.
TEST(ThreadPool, AWorkerIsOneThread) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> met = 0;
  for (int k = 0; k < 200; ++k)
    pool.run(64, 4, [&](int worker, int) {
      if (inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) ++met;
      std::this_thread::yield();
      inside[static_cast<std::size_t>(worker)].fetch_sub(1);
    });
  EXPECT_EQ(met, 0);
}

// Who is kept from working takes nothing, and the others do all of it.
TEST(ThreadPool, NobodyWaitsForAThreadThatHasNoItem) {
  ThreadPool pool(2);
  std::atomic<bool> let_go = false;
  std::atomic<int> by_caller = 0;
  pool.run(50, 2, [&](int worker, int) {
    if (worker == 0) {
      if (++by_caller == 48) let_go = true;
    } else {
      while (!let_go && by_caller < 49) std::this_thread::yield();  // one item keeps it
    }
  });
  EXPECT_GE(by_caller, 48);
}

TEST(ThreadPool, PoolsShareNothing) {
  std::atomic<int> total = 0;
  std::vector<std::thread> users;
  for (int u = 0; u < 3; ++u)
    users.emplace_back([&] {
      ThreadPool pool(2);
      for (int k = 0; k < 200; ++k) pool.run(5, 2, [&](int, int) { ++total; });
    });
  for (std::thread& t : users) t.join();
  EXPECT_EQ(total, 3 * 200 * 5);
}

TEST(ThreadPool, WorksAndEndsInAForkedChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork";
#endif
  ThreadPool pool(3);
  pool.run(3, 3, [](int, int) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> total = 0;
    {
      ThreadPool own(2);
      own.run(2, 2, [&](int, int) { ++total; });
      for (int k = 0; k < 10; ++k) pool.run(3, 3, [&](int, int) { ++total; });
    }
    _exit(total == 32 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadPool, WorkersBlockSignals) {
  ThreadPool pool(2);
  std::atomic<int> workers = 0;
  for (int k = 0; k < 1000 && workers == 0; ++k)
    pool.run(2, 2, [&](int worker, int) {
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      EXPECT_EQ(sigismember(&blocked, SIGINT), worker == 0 ? 0 : 1);
      workers += worker;
      std::this_thread::sleep_for(std::chrono::milliseconds(worker == 0 ? 1 : 0));
    });
  EXPECT_GT(workers, 0);
}

#if defined(__SSE2__)
TEST(ThreadPool, ArithmeticIsTheDefaultWhateverTheCallerHasSet) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush denormals to zero
  ThreadPool pool(2);
  volatile float tiny = 1e-38f;
  for (const int threads : {1, 2})
    pool.run(20, threads, [&](int, int) {
      EXPECT_GT(tiny * 0.1f, 0.0f);
      std::this_thread::yield();
    });
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(before);
}
#endif

}  // namespace
}  // namespace stiction::cpu
