#include "lab/src/solvers/splitting.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace stiction::lab {
namespace {

constexpr double kProximal = 1e-9;   // η, relative to the largest eigenvalue
constexpr double kImbalance = 3;     // root of the ratio of the residuals that changes the penalty
constexpr double kNarrowest = 1e-8;  // of the penalty, relative to the largest eigenvalue
constexpr int kPatience = 10;        // iterations before the first look at the penalty

}  // namespace

Splitting split(const MatX& H, const VecX& g, const VecX& x0, double relaxation,
                const std::function<VecX(const VecX&)>& project,
                const std::function<bool(const VecX&)>& done) {
  const Eigen::Index n = g.size();
  const double L = std::max(largest_eigenvalue(H), 1e-300), eta = kProximal * L;
  // ρ = sqrt(L m) (L/m)^0.4
  const double m = 1e-6 * L, spectral = L / m;
  double rho = std::sqrt(L * m) * std::pow(spectral, 0.4);
  const auto factored = [&] { return Eigen::LLT<MatX>(H + (rho + eta) * MatX::Identity(n, n)); };
  Eigen::LLT<MatX> C = factored();

  Splitting s;
  int next_look = kPatience, changes = 0;
  const auto size = [](const VecX& a) { return a.lpNorm<Eigen::Infinity>(); };
  VecX x = x0, y = project(x0), z = -(H * y + g);  // −z is the gradient at a solution
  s.x = y;
  do {
    const VecX last_x = x, last_y = y;
    x = C.solve(-g + eta * x + rho * y - z);
    const VecX mixed = relaxation * x + (1 - relaxation) * y;
    y = project(mixed + z / rho);
    z += rho * (mixed - y);
    s.x = y;
    ++s.iterations;

    if (s.iterations < next_look) continue;
    // both residuals relative to what they are made of
    const double primal = size(x - y) / std::max({size(x), size(y), 1e-300});
    const double dual = size(eta * (x - last_x) + rho * (y - last_y)) /
                        std::max({size(z), size(H * y), size(g), 1e-300});
    const double ratio = std::clamp(std::sqrt(primal / std::max(dual, 1e-300)), 1e-3, 1e3);
    next_look = s.iterations + kPatience;
    if (ratio < kImbalance && ratio > 1 / kImbalance) continue;
    rho = std::clamp(rho * ratio, kNarrowest * L, L / kNarrowest);
    C = factored();
    ++changes;
    next_look = s.iterations + kPatience * (1 + changes);  // a penalty that comes to rest converges
  } while (!done(s.x));
  return s;
}

}  // namespace stiction::lab
