// What ptxas makes of an instruction of PTX, and what an H100 takes for it: a few latencies, throughputs
// of its units by NVIDIA's table for compute capability 9.0, and how many instructions of the machine one
// of PTX becomes. None of this is known exactly; cuda/README.md says how well it predicts.
#pragma once

#include <vector>

#include "cuda/ptx/program.h"

namespace stiction::ptx {

// Cycles of an H100, from the issue of an instruction to that of one that needs its result. Those of the caches are
// others' measurements (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", 2024).
struct Latencies {
  double ghz = 1.755;
  // Of integers and floats; what is slower is a multiple. One instruction alone has 4; the rest stands for
  // what the replay does not know, and was fitted.
  double arithmetic = 11;
  double shared = 29;  // and 2 for each further wave
  double first_cache = 38;
  double second_cache = 263;
  double memory = 600;
  double taken = 33;  // until the warp issues again after a branch that is taken: three results
  double fetch =
      80;  // a line of instructions that no warp of the multiprocessor has had yet; fitted
  // Instructions of the machine for each that costs.cpp knows of: as Nsight Compute counted them in `solve`.
  double more = 1.3;
  double second_cache_tb = 5.5, memory_tb = 3.35;  // TB/s, of all multiprocessors together
  double launch = 3;                               // us, of a kernel
};

// What an instruction occupies, and by which it is known what its result is waited for.
enum class Unit : std::uint8_t {
  none,     // no instruction of the machine: its result is there with its operands
  integer,  // a warp in two cycles of a scheduler
  single,   // one cycle
  wide,     // doubles: two cycles
  special,  // reciprocals, roots, conversions: eight cycles
  shuffle,
  shared,  // memory that a parameter, shared or generic address names: where it lies the access says
  global,
  vote,
  branch,
  warp_barrier,
  block_barrier
};

struct Cost {
  Unit unit = Unit::none;
  std::uint8_t issues = 0;    // instructions of the machine
  float latencies = 0;        // in those of arithmetic
  std::uint32_t address = 0;  // of the machine's instruction, in instructions
};

// The code of a kernel and of the functions that it may call.
class MachineCode {
 public:
  MachineCode(const Module& module, const Function& entry);

  const Cost& cost(int instruction) const { return costs_[static_cast<std::size_t>(instruction)]; }
  // Basic blocks: where the one of an instruction begins and ends.
  int begin(int instruction) const { return begins_[static_cast<std::size_t>(instruction)]; }
  int end(int instruction) const { return ends_[static_cast<std::size_t>(instruction)]; }
  // The instructions of a block as ptxas may order them (order.cpp): at [begin, end).
  const std::vector<int>& order() const { return order_; }
  const Module& module() const { return *module_; }
  int rows() const { return rows_; }

 private:
  void find_costs(const Function& f);
  void find_blocks(const Function& f);
  void fuse(const Function& f);
  void order_block(int begin, int end);

  const Module* module_;
  int rows_;
  std::vector<Cost> costs_;
  std::vector<int> begins_, ends_, order_;
};

// Rows that an instruction reads, its predicate included, and those that it writes.
template <class F>
void for_sources(const Instruction& i, const F& f) {
  if (i.predicate >= 0) f(i.predicate);
  for (const int r : i.from)
    if (r >= 0) f(r);
  const bool reads_vector = i.kind == Kind::store || (i.kind == Kind::plain && i.to >= 0);
  if (reads_vector)
    for (const int r : i.vector)
      if (r >= 0) f(r);
}
template <class F>
void for_results(const Instruction& i, const F& f) {
  if (i.to >= 0) f(i.to);
  if (i.to_predicate >= 0) f(i.to_predicate);
  const bool writes_vector = i.kind == Kind::load || (i.kind == Kind::plain && i.to < 0);
  if (writes_vector)
    for (const int r : i.vector)
      if (r >= 0) f(r);
}

}  // namespace stiction::ptx
