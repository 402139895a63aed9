// The kernels as emulated lanes run them.
#pragma once

#include <memory>

#include "cuda/arena.h"

namespace stiction::test {

// one: the serial text; thread: that of models that fit; tiles of 4, 8 and 16 lanes.
enum class Lanes { one, thread, tile4, tile8, tile16, warp, block };

// The rows of one environment, for one kernel; runs on as many lanes as the group has.
class LaneKernels {
 public:
  explicit LaneKernels(Lanes lanes);
  ~LaneKernels();
  void run(cuda::Kernel kernel, const physics::ModelView& m, const cuda::Launch& l, int env,
           const cuda::Arena& arena, std::byte* share) const;

 private:
  struct Shared;
  Lanes lanes_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace stiction::test
