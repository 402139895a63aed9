// NVIDIA's cuSOLVER, loaded at run time and never linked: solves systems of many environments at once. It
// is used to verify our own factorization (options.h, LinearSolver).
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace stiction::cuda {

// Returns paths of the library, best first: the environment variable STICTION_CUSOLVER, the
// loader's path, the toolkit's folder.
std::vector<std::string> cusolver_paths();

class Cusolver {
 public:
  // For the current device. Throws ArgumentError, listing the paths, if the library is not found.
  Cusolver();
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;
  Cusolver& operator=(const Cusolver&) = delete;

  const std::string& path() const { return path_; }

  // Solves H x = b for n symmetric positive definite matrices of the same order; overwrites their lower
  // triangles, stored by columns, and b. All pointers are device pointers. info[k]: 0, or the order of
  // the minor of matrix k that is not positive definite; `scratch` is a word.
  void solve(int order, float* const* matrices, float* const* vectors, int n, int* info,
             int* scratch, cudaStream_t stream);

 private:
  using Handle = struct CusolverHandle*;
  enum Fill : int { kLower = 0 };
  void open();
  template <class F>
  void find(F& function, const char* name) const;
  void check(int status, const char* doing) const;

  std::string path_;
  void* library_ = nullptr;
  Handle handle_ = nullptr;
  int (*create_)(Handle*) = nullptr;
  int (*destroy_)(Handle) = nullptr;
  int (*set_stream_)(Handle, cudaStream_t) = nullptr;
  int (*factor_)(Handle, Fill, int, float* const*, int, int*, int) = nullptr;
  int (*solve_)(Handle, Fill, int, int, float* const*, int, float* const*, int, int*,
                int) = nullptr;
};

}  // namespace stiction::cuda
