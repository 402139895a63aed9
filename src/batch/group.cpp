// Grouping: which environments share a pack. Results do not depend on it, the run time does.
#include <algorithm>

#include "batch/impl.h"

namespace stiction {
namespace {

template <class T>
std::uint64_t touching_bodies(const std::byte* row, int nbody) {
  const T* wrench = reinterpret_cast<const T*>(row);
  std::uint64_t bits = 0;
  for (int b = 0; b < nbody; ++b, wrench += 6)
    bits |= std::uint64_t{wrench[0] != 0 || wrench[1] != 0 || wrench[2] != 0} << (b % 64);
  return bits;
}

bool before(const GroupKey& a, const GroupKey& b) {
  if (a.touching != b.touching) return a.touching < b.touching;
  if (a.iterations != b.iterations) return a.iterations < b.iterations;
  return a.env < b.env;
}

// Environments are grouped within chunks of this many, whichever thread does it: so the packs, and what
// they count, depend on the environments alone. A multiple of the lanes of any pack.
constexpr int kChunk = 1024;
static_assert(kChunk % kMaxLanes == 0);

}  // namespace

void Batch::Impl::group() {
  const int n = num_envs(), chunks = (n - 1) / kChunk + 1;
  pool->run(chunks, pace.threads(),
            [&](int, int chunk) { group(chunk * kChunk, std::min(n, (chunk + 1) * kChunk)); });
}

// Sorts environments [first, last) by the bodies they touched and their iterations in the last step.
// Users may overwrite outputs: any values are valid here.
void Batch::Impl::group(int first, int last) {
  const bool wide = number_bytes(spec(Field::xfrc_contact)) == 8;
  for (int env = first; env < last; ++env) {
    const std::byte* wrenches = row(Field::xfrc_contact, env);
    const double iterations = number(Field::solver_niter, env, 0);
    order[at(env)] = {
        wide ? touching_bodies<double>(wrenches, model->nbody)
             : touching_bodies<float>(wrenches, model->nbody),
        iterations > 0 && iterations <= options.max_iterations ? static_cast<int>(iterations) : 0,
        env};
  }
  std::sort(order.begin() + first, order.begin() + last, before);
}

}  // namespace stiction
