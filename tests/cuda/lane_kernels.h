// The kernels as emulated lanes run them.
#pragma once

#include <memory>

#include "cuda/arena.h"

namespace stiction::test {

// one: the serial text; thread: that of models that fit.
enum class Lanes { one, thread, warp, block };

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
