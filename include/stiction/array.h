// A non-owning view of an array, with the properties that NumPy and DLPack need to know about
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace stiction {

enum class DType : std::uint8_t { float32, float64, int32, uint32, uint8 };

// Row-major and dense.
struct ArrayView {
  std::string name;
  void* data = nullptr;
  DType dtype = DType::float32;
  int ndim = 2;
  std::array<std::int64_t, 3> shape{0, 1, 1};  // ones beyond ndim
  std::string device = "cpu";                  // device that holds the memory, for example "cuda:0"
  bool writable = true;

  std::int64_t size() const { return shape[0] * shape[1] * shape[2]; }
};

}  // namespace stiction
