// Every part runs once per run, on threads that survive a fork and leave signals alone.
#include "cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace stiction::cpu {
namespace {

TEST(ThreadPool, EveryPartRunsOncePerRun) {
  for (const int size : {1, 2, 3, 8}) {
    ThreadPool pool(size);
    std::vector<int> runs(static_cast<std::size_t>(size));
    for (int k = 1; k <= 300; ++k) {
      if (k % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they sleep
      pool.run([&](int part) { ++runs[static_cast<std::size_t>(part)]; });
      for (const int n : runs) ASSERT_EQ(n, k);
    }
    pool.run_here([&](int part) { ++runs[static_cast<std::size_t>(part)]; });
    for (const int n : runs) EXPECT_EQ(n, 301);
  }
}

TEST(ThreadPool, PoolsShareNothing) {
  std::atomic<int> total = 0;
  std::vector<std::thread> users;
  for (int u = 0; u < 3; ++u)
    users.emplace_back([&] {
      ThreadPool pool(2);
      for (int k = 0; k < 200; ++k) pool.run([&](int) { ++total; });
    });
  for (std::thread& t : users) t.join();
  EXPECT_EQ(total, 3 * 200 * 2);
}

TEST(ThreadPool, WorksAndEndsInAForkedChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork";
#endif
  ThreadPool pool(3);
  pool.run([](int) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> total = 0;
    {
      ThreadPool own(2);
      own.run([&](int) { ++total; });
      for (int k = 0; k < 10; ++k) pool.run([&](int) { ++total; });
    }
    _exit(total == 32 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadPool, WorkersBlockSignals) {
  ThreadPool pool(2);
  pool.run([](int part) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGINT), part == 0 ? 0 : 1);
  });
}

#if defined(__SSE2__)
TEST(ThreadPool, ArithmeticIsTheDefaultWhateverTheCallerHasSet) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush denormals to zero
  ThreadPool pool(2);
  volatile float tiny = 1e-38f;
  pool.run([&](int) { EXPECT_GT(tiny * 0.1f, 0.0f); });
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(before);
}
#endif

}  // namespace
}  // namespace stiction::cpu
