// The tape of reverse-mode differentiation: the dependencies of each operation of a step, in the order of execution.
//
//   x̄ = Σ ȳ ∂y/∂x over the operations y that use x
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/buffer.h"

namespace stiction::cpu {

// The result of an operation: its operands' nodes, and the derivatives with respect to them. A node is its own parent
// in place of a constant: what is added there is discarded, and no operation waits for another one's store.
struct Node {
  std::uint32_t a, b;
  double to_a, to_b;
};

// A number in memory: its value, and its node; 0 for a constant.
struct Recorded {
  double value;
  std::uint32_t node;
};

// Nodes from 1 on, and x̄ of each, 0 outside of a sweep. Grows by doubling, and never shrinks.
class Tape {
 public:
  Tape() { grow(); }
  void clear() { count_ = 1; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(count_); }
  // Discards the nodes from here on.
  void cut(std::uint32_t count) { count_ = count; }

  // Appends an operation on the nodes a and b, 0 for a constant.
  std::uint32_t push(std::uint32_t a, double to_a, std::uint32_t b, double to_b) {
    if (count_ == capacity_) grow();
    const auto own = static_cast<std::uint32_t>(count_);
    nodes_[count_++] = {a == 0 ? own : a, b == 0 ? own : b, to_a, to_b};
    return own;
  }
  // Appends an independent variable.
  std::uint32_t leaf() { return push(0, 0.0, 0, 0.0); }

  double& bar(std::uint32_t node) { return bars_[node]; }
  // Returns x̄ of a node and sets it to 0.
  double take(std::uint32_t node) {
    const double x = bars_[node];
    bars_[node] = 0;
    return x;
  }
  // Propagates x̄ of the nodes last - 1 .. first to their parents, and leaves 0 there.
  void sweep(std::uint32_t first, std::uint32_t last);
  // Computes the derivatives of `rows` nodes with respect to the n leaves from `first` on; all nodes are below `last`:
  void derivatives(std::uint32_t first, int n, std::uint32_t last, const std::uint32_t* nodes,
                   int rows, double* matrix);

  std::size_t bytes() const {
    return capacity_ * (sizeof(Node) + sizeof(double)) + sizeof(double) * side_.capacity();
  }

 private:
  void grow();

  // not the type of a node's index: so the compiler keeps these in registers across stores of nodes
  std::size_t count_ = 1, capacity_ = 0;
  Node* nodes_ = nullptr;
  double* bars_ = nullptr;
  Buffer memory_, bar_memory_;
  std::vector<double> side_;  // x̄ of several simultaneous sweeps
};

}  // namespace stiction::cpu
