#include "cuda/lane_kernels.h"

#include <algorithm>
#include <cstring>

#include "cuda/emulated_lanes.h"
#include "cuda/kernels.h"
#include "cuda/thread.h"

namespace stiction::test {
namespace {

using cuda::Kernel;
using View = physics::EnvView<float>;

template <Kernel kernel, class Team>
void run_with_drives(const Team& team, const physics::ModelView& m, const cuda::Launch& l, int env,
                     const cuda::Arena& arena, std::byte* share, View& e) {
  using physics::Colliders, physics::Drives;
  const auto run = [&]<Drives can>() {
    physics::run_kernel<kernel, Colliders::boxes, can>(team, m, l, env, arena, share, e);
  };
  switch (physics::drives_of(m)) {
    case Drives::plain: return run.template operator()<Drives::plain>();
    case Drives::strings: return run.template operator()<Drives::strings>();
    case Drives::states: return run.template operator()<Drives::states>();
  }
}

// With the colliders that the model needs, and no others.
template <class Team>
void run_collide(const Team& team, const physics::ModelView& m, const cuda::Launch& l, int env,
                 const cuda::Arena& arena, std::byte* share, View& e) {
  using physics::Colliders;
  const auto run = [&]<Colliders has>() {
    physics::run_kernel<Kernel::collide, has>(team, m, l, env, arena, share, e);
  };
  switch (m.colliders) {
    case Colliders::round: return run.template operator()<Colliders::round>();
    case Colliders::box: return run.template operator()<Colliders::box>();
    case Colliders::boxes: return run.template operator()<Colliders::boxes>();
    case Colliders::convex: return run.template operator()<Colliders::convex>();
    case Colliders::meshes: return run.template operator()<Colliders::meshes>();
    case Colliders::hfields: return run.template operator()<Colliders::hfields>();
  }
}

template <class Team>
void run_on(const Team& team, Kernel kernel, const physics::ModelView& m, const cuda::Launch& l,
            int env, const cuda::Arena& arena, std::byte* share, View& e) {
  switch (kernel) {
    case Kernel::dynamics:
      return run_with_drives<Kernel::dynamics>(team, m, l, env, arena, share, e);
    case Kernel::collide: return run_collide(team, m, l, env, arena, share, e);
    case Kernel::solve: return physics::run_kernel<Kernel::solve>(team, m, l, env, arena, share, e);
    case Kernel::move: return run_with_drives<Kernel::move>(team, m, l, env, arena, share, e);
    case Kernel::refresh: return run_with_drives<Kernel::refresh>(team, m, l, env, arena, share, e);
    case Kernel::solve_begin:
      return physics::run_kernel<Kernel::solve_begin>(team, m, l, env, arena, share, e);
    case Kernel::solve_next:
      return physics::run_kernel<Kernel::solve_next>(team, m, l, env, arena, share, e);
  }
}

void run_by_thread(Kernel kernel, const physics::ModelView& m, const cuda::Launch& l, int env) {
  cuda::RowTable table;
  std::copy_n(l.fields, physics::kFields, table.of);
  switch (kernel) {
    case Kernel::dynamics: return physics::run_by_thread<Kernel::dynamics>(m, l, table, env);
    case Kernel::collide:      // fits_thread: no pairs
    case Kernel::solve_begin:  // a library's rounds are a warp's
    case Kernel::solve_next: return;
    case Kernel::solve: return physics::run_by_thread<Kernel::solve>(m, l, table, env);
    case Kernel::move: return physics::run_by_thread<Kernel::move>(m, l, table, env);
    case Kernel::refresh: return physics::run_by_thread<Kernel::refresh>(m, l, table, env);
  }
}

}  // namespace

struct LaneKernels::Shared : LanesShared {
  using LanesShared::LanesShared;
};

namespace {
int tile_of(Lanes lanes) {
  switch (lanes) {
    case Lanes::tile4: return 4;
    case Lanes::tile8: return 8;
    case Lanes::tile16: return 16;
    default: return physics::kWarp;
  }
}
}  // namespace

LaneKernels::LaneKernels(Lanes lanes)
    : lanes_(lanes),
      shared_(std::make_unique<Shared>(lanes == Lanes::block ? 2 : 1, tile_of(lanes))) {}
LaneKernels::~LaneKernels() = default;

void LaneKernels::run(Kernel kernel, const physics::ModelView& m, const cuda::Launch& l, int env,
                      const cuda::Arena& arena, std::byte* share) const {
  View e;
  const auto text = [&](const auto& team) { run_on(team, kernel, m, l, env, arena, share, e); };
  switch (lanes_) {
    case Lanes::one: return text(physics::TeamOfOne());
    case Lanes::thread: return run_by_thread(kernel, m, l, env);
    case Lanes::tile4:
    case Lanes::tile8:
    case Lanes::tile16:
    case Lanes::warp: return on_lanes<EmulatedTile>(*shared_, text);
    case Lanes::block: return on_lanes<EmulatedBlock>(*shared_, text);
  }
}

}  // namespace stiction::test
