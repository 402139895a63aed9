// The tape of a reverse sweep: what each operation of a step depends on, in the order in which they were done.
//
//   x̄ = Σ over the operations y that x goes into of ȳ ∂y/∂x
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/buffer.h"

namespace stiction::cpu {

// The result of an operation: its parents, and the derivatives to them. In the place of a constant it is its own
// parent: what goes there is forgotten, and no operation waits for another one's.
struct Node {
  std::uint32_t a, b;
  double to_a, to_b;
};

// A number in memory: its value, and its node, 0 of a constant.
struct Recorded {
  double value;
  std::uint32_t node;
};

// Nodes from 1 on, and x̄ of each, 0 outside of a sweep. Grows by doubling, and keeps what it has.
class Tape {
 public:
  Tape() { grow(); }
  void clear() { count_ = 1; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(count_); }
  // Forgets the nodes from here on.
  void cut(std::uint32_t count) { count_ = count; }

  // An operation on the nodes a and b, 0 of a constant.
  std::uint32_t push(std::uint32_t a, double to_a, std::uint32_t b, double to_b) {
    if (count_ == capacity_) grow();
    const auto own = static_cast<std::uint32_t>(count_);
    nodes_[count_++] = {a == 0 ? own : a, b == 0 ? own : b, to_a, to_b};
    return own;
  }
  // An independent number.
  std::uint32_t leaf() { return push(0, 0.0, 0, 0.0); }

  double& bar(std::uint32_t node) { return bars_[node]; }
  // x̄ of that node, which is 0 then.
  double take(std::uint32_t node) {
    const double x = bars_[node];
    bars_[node] = 0;
    return x;
  }
  // Carries x̄ of the nodes last - 1 .. first to their parents, and leaves 0 there.
  void sweep(std::uint32_t first, std::uint32_t last);
  // Derivatives of `rows` nodes to the n leaves from `first` on, all of their nodes below `last`: matrix (rows, n).
  void derivatives(std::uint32_t first, int n, std::uint32_t last, const std::uint32_t* nodes,
                   int rows, double* matrix);

  std::size_t bytes() const {
    return capacity_ * (sizeof(Node) + sizeof(double)) + sizeof(double) * side_.capacity();
  }

 private:
  void grow();

  // not the type of a node's index: a store of one leaves these in registers
  std::size_t count_ = 1, capacity_ = 0;
  Node* nodes_ = nullptr;
  double* bars_ = nullptr;
  Buffer memory_, bar_memory_;
  std::vector<double> side_;  // x̄ of several sweeps side by side
};

}  // namespace stiction::cpu
