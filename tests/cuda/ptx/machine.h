// A card: its memory, the modules that it was given, and launches, whose blocks threads share out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/ptx/counter.h"
#include "cuda/ptx/memory.h"
#include "cuda/ptx/program.h"

namespace stiction::ptx {

struct LaunchSize {
  unsigned blocks[2];
  unsigned threads;      // of a block
  std::uint32_t shared;  // bytes, beside those of the kernel
};

class Machine {
 public:
  Machine();
  ~Machine();

  DeviceMemory memory;
  // Looked for while set: one thread runs all blocks then.
  bool races = false;
  // Counts memory while set: one thread runs all blocks then.
  Counter* counter = nullptr;
  // Called after each launch, where it is given.
  std::function<void(const Module&, const Function&, const LaunchSize&)> launched;
  int threads = 1;

  void load(std::string ptx) { modules_.push_back(std::make_unique<Module>(std::move(ptx))); }
  // Throws Fault. `arguments`: where each parameter is.
  void launch(const std::string& kernel, const LaunchSize& size, const void* const* arguments);
  // Static shared memory of a kernel.
  std::uint32_t shared_bytes(const std::string& kernel) {
    return find(kernel).second->shared_bytes;
  }

 private:
  // What a thread needs to run blocks; kept from launch to launch.
  struct Worker {
    std::vector<std::uint32_t> registers;
    std::vector<Lanes> unwritten;
    Buffer shared, local;
    std::uint64_t instructions = 0, lane_instructions = 0, splits = 0;
  };
  struct Launched {
    Module& module;
    const Function& entry;
    const LaunchSize& size;
    const Region& parameters;
    Races* races;
  };
  std::pair<Module*, const Function*> find(const std::string& kernel);
  void run_block(const Launched& l, Worker& worker, unsigned number) const;
  static void set_constants(const Launched& l, const Block& block, int warp,
                            std::uint32_t* registers);

  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace stiction::ptx
