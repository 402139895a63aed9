#include "cpu/tape.h"

#include <algorithm>
#include <cstring>

namespace stiction::cpu {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 14;
constexpr int kSide = 8;  // number of simultaneous sweeps

}  // namespace

void Tape::grow() {
  const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
  Buffer nodes(capacity * sizeof(Node)), bars(capacity * sizeof(double));
  if (capacity_ > 0) std::memcpy(nodes.data(), memory_.data(), count_ * sizeof(Node));
  memory_ = std::move(nodes), bar_memory_ = std::move(bars);
  nodes_ = reinterpret_cast<Node*>(memory_.data());
  bars_ = reinterpret_cast<double*>(bar_memory_.data());
  capacity_ = capacity;
}

void Tape::sweep(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = last; i-- > first;) {
    const double x = bars_[i];
    if (x == 0) continue;  // an operand of the branch not taken may have an infinite derivative
    const Node& n = nodes_[i];
    bars_[n.a] += n.to_a * x;
    bars_[n.b] += n.to_b * x;
    bars_[i] = 0;
  }
}

void Tape::derivatives(std::uint32_t first, int n, std::uint32_t last, const std::uint32_t* nodes,
                       int rows, double* matrix) {
  // place 0 absorbs what goes to nodes below `first`
  const auto place = [&](std::uint32_t node) {
    return kSide * (node < first ? std::size_t{0} : std::size_t{node} - first + 1);
  };
  if (side_.size() < place(last)) side_.resize(place(last));  // zeros, as the code below leaves it
  double* const bars = side_.data();
  const std::uint32_t end = first + static_cast<std::uint32_t>(n);
  for (int row = 0; row < rows; row += kSide) {
    const int count = std::min(kSide, rows - row);
    for (int k = 0; k < count; ++k) bars[place(nodes[row + k]) + static_cast<std::size_t>(k)] += 1;
    for (std::uint32_t i = last; i-- > end;) {
      double* const own = bars + place(i);
      double x[kSide];
      bool any = false;
      for (int k = 0; k < kSide; ++k) x[k] = own[k], any = any || x[k] != 0;
      if (!any) continue;
      const Node& node = nodes_[i];
      double *const a = bars + place(node.a), *const b = bars + place(node.b);
      for (int k = 0; k < kSide; ++k) a[k] += node.to_a * x[k];
      for (int k = 0; k < kSide; ++k) b[k] += node.to_b * x[k];
      for (int k = 0; k < kSide; ++k) own[k] = 0;
    }
    for (int j = 0; j < n; ++j) {
      double* const x = bars + place(first + static_cast<std::uint32_t>(j));
      for (int k = 0; k < count; ++k) matrix[(row + k) * n + j] = x[k];
      std::fill_n(x, kSide, 0.0);
    }
    std::fill_n(bars, kSide, 0.0);
  }
}

}  // namespace stiction::cpu
