// What the program has allocated so far: the global operator new of batch_test.cpp counts.
#pragma once

#include <atomic>

namespace stiction::test {

extern std::atomic<int> allocations;

}  // namespace stiction::test
