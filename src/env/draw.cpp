#include "stiction/draw.h"

#include "envs/philox.h"

namespace stiction {
namespace {

envs::Draw row(const DrawKey& k, std::uint32_t first) {
  envs::Draw draw(k.seed, k.episode, static_cast<envs::Purpose>(k.purpose), k.step);
  draw.skip(first);
  return draw;
}

}  // namespace

void draw_bits(const DrawKey& key, std::uint32_t first, std::span<std::uint32_t> out) {
  envs::Draw draw = row(key, first);
  for (std::uint32_t& x : out) x = draw.bits();
}
void draw_uniform(const DrawKey& key, std::uint32_t first, std::span<double> out) {
  envs::Draw draw = row(key, first);
  for (double& x : out) x = draw.uniform();
}
void draw_normal(const DrawKey& key, std::uint32_t first, std::span<double> out) {
  envs::Draw draw = row(key, first);
  for (double& x : out) x = draw.normal();
}

}  // namespace stiction
