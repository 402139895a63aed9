// On which devices a test runs.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "stiction/batch.h"

namespace stiction::test {

// Where the batches that a test makes live: "cpu", "emulated" (emulated_device.h), "cuda".
std::string& device();

inline BatchOptions batch_options(int num_envs = 1) {
  BatchOptions o;
  o.num_envs = num_envs;
  o.device = device();
  return o;
}

// All that this build knows.
std::vector<std::string> device_names(bool with_cpu = true);

// Makes `name` the device of this test.
void use_device(const std::string& name);
// Why the device of this test can't be used; "": it can.
std::string missing_device();

// Whether the device of this test is the PTX of a card on the host (tests/cuda/ptx): without graphs,
// streams and limits of memory, and slow.
bool interpreted();

// The memory of a batch that a view of that device is of, and the host's, in either direction.
void copy_memory(const std::string& device, void* to, const void* from, std::size_t bytes);

// ThreadSanitizer and AddressSanitizer run the same text on fewer environments, and so does a device
// of one lane.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
inline bool slow() {
  return kSanitized || device() == "emulated" || interpreted();
}

// A test of every device: TEST_P, with a suite that inherits this.
class EveryDevice : public testing::TestWithParam<std::string> {
 protected:
  EveryDevice() { use_device(GetParam()); }
  ~EveryDevice() override { use_device("cpu"); }
  void SetUp() override {
    if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
  }
};
#define STICTION_ON_EVERY_DEVICE(suite)                                       \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::ValuesIn(device_names()), \
                           [](const auto& named) { return named.param; })

}  // namespace stiction::test
