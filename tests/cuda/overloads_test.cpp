// Serial text has an overload for every team of many threads, and a team without one does not compile.
#include "cuda/emulated_lanes.h"
#include "cuda/kernels.h"
#include "cuda/thread.h"

namespace stiction::test {
namespace {

using namespace physics;
using E = EnvView<float>;

// Many threads that nobody has overloads for.
struct Strangers {
  static constexpr bool serial = false;
};

// Bit k: function k of the list takes the team.
template <class Team>
constexpr unsigned takes() {
  unsigned bits = 0, bit = 1;
  const auto count = [&](bool callable) { bits |= callable ? bit : 0, bit <<= 1; };
  using T = const Team&;
  using M = const ModelView&;
  using In = const float*;
  count(requires(T t, M m, E e) { model_structure(t, m, e); });
  count(requires(T t, M m, E e) { couple_points(t, m, e); });
  count(requires(T t, M m, E e) { place_A(t, m, e); });
  count(requires(T t, M m, E e, In b, float* x) { factor_and_solve(t, m, e, b, x); });
  count(requires(T t, M m, const E e, In x, float* out) { multiply_A(t, m, e, x, out); });
  count(requires(T t, M m, E e) { live_tree(t, m, e); });
  count(requires(T t, M m, E e, In v, float* out) { point_velocities(t, m, e, v, out, out); });
  count(requires(T t, M m, E e, float* out) { contact_impulses(t, m, e, out); });
  count(requires(T t, M m, E e) { composite_curvature(t, m, e); });
  count(requires(T t, M m, E e, int n) { list_candidates(t, m, e, n); });
  count(requires(T t, M m, E e) { body_lists(t, m, e); });
  count(requires(T t, M m, E e) { bind_structure(t, m, e); });
  return bits;
}

constexpr unsigned kAll = (1u << 12) - 1;
static_assert(takes<TeamOfOne>() == kAll);
static_assert(takes<GroupTeam<EmulatedTile>>() == kAll);
static_assert(takes<GroupTeam<EmulatedBlock>>() == kAll);
static_assert(takes<GroupTeam<ThreadGroup>>() == kAll);
static_assert(takes<Strangers>() == 0);

}  // namespace
}  // namespace stiction::test
