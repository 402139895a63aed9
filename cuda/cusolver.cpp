#include "cuda/cusolver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "stiction/error.h"

namespace stiction::cuda {
namespace {

constexpr const char* kNames[] = {"libcusolver.so.12", "libcusolver.so.11"};

}  // namespace

std::vector<std::string> cusolver_paths() {
  std::vector<std::string> paths;
  if (const char* given = std::getenv("STICTION_CUSOLVER"); given != nullptr && *given != '\0')
    return {given};
  for (const char* name : kNames) paths.emplace_back(name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0')
      for (const char* name : kNames) paths.push_back(std::string(folder) + "/lib64/" + name);
  for (const char* name : kNames) paths.push_back(std::string("/usr/local/cuda/lib64/") + name);
  return paths;
}

void Cusolver::open() {
  std::string places, reason;
  for (const std::string& path : cusolver_paths()) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) {
      path_ = path;
      return;
    }
    if (const char* what = dlerror(); reason.empty() && what != nullptr) reason = what;
    places += (places.empty() ? "" : ", ") + path;
  }
  throw ArgumentError("linear_solver = 'cusolver': the library can't be opened, looked for " +
                      places + " (" + reason +
                      "); pip install nvidia-cusolver, or name the file in STICTION_CUSOLVER");
}

template <class F>
void Cusolver::find(F& function, const char* name) const {
  function = reinterpret_cast<F>(dlsym(library_, name));
  if (function == nullptr)
    throw ArgumentError("linear_solver = 'cusolver': " + path_ + " has no " + name);
}

void Cusolver::check(int status, const char* doing) const {
  if (status != 0)
    throw Error("cuSOLVER: " + std::string(doing) + " failed with status " +
                std::to_string(status));
}

Cusolver::Cusolver() {
  open();
  find(create_, "cusolverDnCreate");
  find(destroy_, "cusolverDnDestroy");
  find(set_stream_, "cusolverDnSetStream");
  find(factor_, "cusolverDnSpotrfBatched");
  find(solve_, "cusolverDnSpotrsBatched");
  check(create_(&handle_), "making a handle");
}

// The library stays loaded: others may use it, and unloading it is unreliable.
Cusolver::~Cusolver() {
  if (handle_ != nullptr) (void)destroy_(handle_);
}

void Cusolver::solve(int order, float* const* matrices, float* const* vectors, int n, int* info,
                     int* scratch, cudaStream_t stream) {
  check(set_stream_(handle_, stream), "choosing a stream");
  check(factor_(handle_, kLower, order, matrices, order, info, n), "factoring");
  check(solve_(handle_, kLower, order, 1, matrices, order, vectors, order, scratch, n), "solving");
}

}  // namespace stiction::cuda
