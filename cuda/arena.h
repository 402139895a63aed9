// The arena: fast memory (a part of the block's shared memory) for one environment while a kernel
// runs, and the fields of the kernel that are placed there. They are placed in the order of the lists below
// until the arena is full; the other fields stay in the environment's rows in global memory, behind the
// same pointers of the view, so nothing is ever dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "cpu/layout.h"
#include "cuda/launch.h"
#include "physics/base/team.h"

namespace stiction::cuda {

// In the order of a step; refresh after the last one. The last two are `solve` divided into rounds.
enum class Kernel { dynamics, collide, solve, move, refresh, solve_begin, solve_next };
inline constexpr int kKernels = 7;
// Returns whether a step of the model has this kernel.
constexpr bool has_kernel(const physics::SizesView& m, Kernel k) {
  return k != Kernel::collide || m.npair > 0;
}

// The fields of a view, in order: a partial view has pointers to these only.
struct ViewFields {
  std::int32_t count;
  std::uint8_t field[physics::kFields];
};
static_assert(physics::kFields <= 256);
constexpr ViewFields all_fields() {
  ViewFields all{};
  for (; all.count < physics::kFields; ++all.count)
    all.field[all.count] = static_cast<std::uint8_t>(all.count);
  return all;
}
// Returns the position of a field in the view; -1: absent.
constexpr int place_in(const ViewFields& view, int field) {
  for (int k = 0; k < view.count; ++k)
    if (view.field[k] == field) return k;
  return -1;
}

struct ArenaSize {
  std::int32_t whole, per_point;  // bytes: for the whole field, and for each active point
};
struct ArenaEntry {
  std::int16_t field, place;  // place: position in the view
  ArenaSize begin, size;
};

inline constexpr int kArenaEntries = 64;
inline constexpr int kArenaAlignment = 16;
struct Arena {
  std::int32_t bytes;  // fast memory per environment
  std::int32_t count, nload, nstore;
  ArenaSize end;
  ArenaEntry entry[kArenaEntries];
  // indices of the entries that are copied from the rows at the start, and back to them at the end
  std::uint8_t load[kArenaEntries], store[kArenaEntries];
  ViewFields view;
};
// Warps of `step` resident on a multiprocessor, limited by registers.
inline constexpr int kStepWarps = 16;
// Arenas of the kernels in `step`, which share one view.
inline constexpr int kStepKernels = 4;
struct StepArenas {
  Arena of[kStepKernels];
};

// Fields that have no rows on a device: the factor overwrites H, with one list of columns and one of rows, and
// sums over subtrees are sums over ranges of points (jacobian.h).
constexpr bool unused_on_device(physics::Field f) {
  using physics::Field;
  switch (f) {
    case Field::L:
    case Field::row_num:
    case Field::run_end:
    case Field::below_row:
    case Field::below_place:
    case Field::live_adr:
    case Field::live_body:
    case Field::body_wrench:
    case Field::body_hess:
    case Field::body_firstpoint:
    case Field::body_firstchild:
    case Field::body_sibling:
    case Field::body_composite: return true;
    default: return false;
  }
}

// If a block solves, these lists are unused, too.
constexpr bool unused_by_block(physics::Field f) {
  using physics::Field;
  return unused_on_device(f) || f == Field::nfactorlevel || f == Field::row_parent ||
         f == Field::run_adr || f == Field::run_first || f == Field::below_adr;
}
constexpr auto unused_fields(const physics::SizesView& m) {
  return m.nv > kMostTileOrder ? unused_by_block : unused_on_device;
}

// Options on which the lists of a kernel depend.
struct ArenaOptions {
  bool shifted;          // slips are shifted by anchors, mocap or surfaces: reads point_shift
  bool renews_friction;  // friction bounds may change: the solve writes point_n0, point_eps
  bool couples;          // torsional or rolling friction
};

// The fields of a kernel by their use, most accesses per byte first:
//   own    written before it is read, and not read by a later kernel
//   out    written before it is read, and read by a later kernel: stored
//   in     read and never changed: loaded
//   inout  read and changed, and read by a later kernel: loaded and stored
// take(field, per_point, loaded, stored) is called for each field in order.
template <class Take>
class ArenaLists {
 public:
  constexpr ArenaLists(Kernel kernel, const ArenaOptions& options, const Take& take) : take_(take) {
    switch (kernel) {
      case Kernel::dynamics: dynamics(); break;
      case Kernel::collide: collide(); break;
      case Kernel::solve: solve(options); break;
      case Kernel::move: own({Field::body_vel}); break;
      case Kernel::refresh: own({Field::late_anchor}); break;
      // their results must last until the next round: they stay in the rows
      case Kernel::solve_begin:
      case Kernel::solve_next: break;
    }
  }

 private:
  using Field = physics::Field;
  using List = std::initializer_list<Field>;
  constexpr void dynamics() {
    own({Field::gradient, Field::dv, Field::Adv, Field::qfrc_bias, Field::qfrc_bodies,
         Field::row_impulse, Field::row_hess});
    out({Field::cdof});
    own({Field::H});
    out({Field::A, Field::cvel0});
    own({Field::cfrc, Field::crb, Field::cinert, Field::cfrc_applied, Field::late_anchor});
  }
  constexpr void collide() {
    in({Field::cvel0});
    own({Field::cvel_free, Field::geom_bound, Field::geom_off, Field::near_pair, Field::geom_xpos,
         Field::geom_bar});
  }
  constexpr void solve(const ArenaOptions& options) {
    own({Field::nlive, Field::nlivecross, Field::npath, Field::nfactorlevel, Field::dv, Field::Adv,
         Field::momentum, Field::gradient, Field::Av, Field::contact_impulse, Field::inv_A,
         Field::row_impulse, Field::row_hess, Field::row_dual});
    out({Field::v});
    in({Field::body_pointadr});
    own({Field::path_dof, Field::path_side, Field::path_col, Field::H});
    in({Field::cdof, Field::A});
    points_own({Field::live_point, Field::point_next, Field::live_cross, Field::line_point,
                Field::point_dvel, Field::point_hess});
    points_out({Field::point_vel, Field::point_impulse});
    points_in({Field::point_normal, Field::point_law, Field::point_mu});
    if (options.renews_friction)
      points_inout({Field::point_n0, Field::point_eps});
    else
      points_in({Field::point_n0, Field::point_eps});
    points_in({Field::point_d, Field::point_weld, Field::point_r1, Field::point_r2});
    if (options.shifted) points_in({Field::point_shift});
    points_own({Field::point_dual, Field::point_push, Field::point_r, Field::point_miss});
    points_own({Field::point_spatial, Field::point_line});
    if (options.couples) couples(options);
    own({Field::path_J});
  }

  constexpr void couples(const ArenaOptions& options) {
    points_own({Field::point_domega, Field::point_couple_hess});
    points_out({Field::point_omega, Field::point_couple});
    if (options.renews_friction)
      points_inout({Field::point_couple_law});
    else
      points_in({Field::point_couple_law});
    if (options.shifted) points_in({Field::point_couple_shift});
    points_own({Field::point_couple_line});
  }

  constexpr void own(List l) { add(l, false, false, false); }
  constexpr void in(List l) { add(l, false, true, false); }
  constexpr void out(List l) { add(l, false, false, true); }
  constexpr void points_own(List l) { add(l, true, false, false); }
  constexpr void points_in(List l) { add(l, true, true, false); }
  constexpr void points_out(List l) { add(l, true, false, true); }
  constexpr void points_inout(List l) { add(l, true, true, true); }
  constexpr void add(List list, bool per_point, bool loaded, bool stored) {
    for (const Field f : list) take_(f, per_point, loaded, stored);
  }

  const Take& take_;
};

inline Arena make_arena(Kernel kernel, const physics::ModelView& m, int bytes,
                        const ViewFields& view = all_fields()) {
  const cpu::FieldSpecs specs = cpu::field_specs(m);
  Arena arena;
  arena.bytes = bytes, arena.count = arena.nload = arena.nstore = 0;
  arena.end = {0, 0};
  arena.view = view;
  const auto take = [&](physics::Field f, bool per_point, bool loaded, bool stored) {
    const cpu::FieldSpec& s = specs[static_cast<std::size_t>(f)];
    // wide fields come before those with a size per point, which may not be a multiple of 8 bytes
    const bool wide = s.type == physics::FieldType::wide;
    const int row = (wide ? 8 : 4) * (per_point ? s.columns : s.size());
    const ArenaSize size = {per_point ? 0 : row, per_point ? row : 0};
    const auto number = static_cast<std::uint8_t>(arena.count);
    const int field = static_cast<int>(f);
    arena.entry[arena.count++] = {static_cast<std::int16_t>(field),
                                  static_cast<std::int16_t>(place_in(view, field)), arena.end,
                                  size};
    arena.end.whole += (size.whole + kArenaAlignment - 1) & -kArenaAlignment;
    arena.end.per_point += size.per_point;
    if (loaded) arena.load[arena.nload++] = number;
    if (stored) arena.store[arena.nstore++] = number;
  };
  ArenaLists(
      kernel,
      {m.opt.shifted, m.opt.friction_iterations > 1 || m.opt.friction_follows, m.ncouple > 0},
      take);
  return arena;
}

}  // namespace stiction::cuda

STICTION_PHYSICS_BEGIN

using cuda::Arena;
using cuda::ArenaEntry;
using cuda::ArenaSize;
using cuda::Launch;
using cuda::ViewFields;

STICTION_FN int arena_bytes(const ArenaSize& size, int npoint) {
  return size.whole + size.per_point * npoint;
}

STICTION_FN std::byte* row_of(const Launch& l, int field, int env) {
  return l.fields[field].first + l.fields[field].stride * static_cast<std::size_t>(env);
}

// Binds a view to the rows of environment env, in memory that all threads of the team share.
template <class Team, class S>
STICTION_FN void bind_rows(const Team& team, const Launch& l, int env, const ViewFields& view,
                           EnvView<S>& e) {
  void** const pointers = reinterpret_cast<void**>(&e);
  team.for_each(view.count, [&](int k) { pointers[k] = row_of(l, view.field[k], env); });
}

// A word that may alias numbers of any type.
using Word = std::uint32_t __attribute__((may_alias));
template <class Team>
STICTION_FN void copy_words(const Team& team, const ArenaEntry& entry, int npoint, const void* from,
                            void* to) {
  if (from == to) return;
  const Word* const source = static_cast<const Word*>(from);
  Word* const target = static_cast<Word*>(to);
  team.for_each(arena_bytes(entry.size, npoint) / 4, [&](int i) { target[i] = source[i]; });
}

// Points the view at the fast memory `share` (aligned) for the entries that fit into it, and loads
// the entries that the kernel reads.
template <class Team, class S>
STICTION_FN void enter_arena(const Team& team, const Launch& l, int env, const Arena& a,
                             std::byte* share, int npoint, EnvView<S>& e) {
  void** const pointers = reinterpret_cast<void**>(&e);
  team.for_each(a.count, [&](int k) {
    const ArenaEntry& entry = a.entry[k];
    const int begin = arena_bytes(entry.begin, npoint);
    if (begin + arena_bytes(entry.size, npoint) <= a.bytes) pointers[entry.place] = share + begin;
  });
  STICTION_ROLLED
  for (int k = 0; k < a.nload; ++k) {
    const ArenaEntry& entry = a.entry[a.load[k]];
    copy_words(team, entry, npoint, row_of(l, entry.field, env), pointers[entry.place]);
  }
}

template <class Team, class S>
STICTION_FN void leave_arena(const Team& team, const Launch& l, int env, const Arena& a, int npoint,
                             const EnvView<S>& e) {
  void* const* const pointers = reinterpret_cast<void* const*>(&e);
  STICTION_ROLLED
  for (int k = 0; k < a.nstore; ++k) {
    const ArenaEntry& entry = a.entry[a.store[k]];
    copy_words(team, entry, npoint, pointers[entry.place], row_of(l, entry.field, env));
  }
}

// Points the view back at the rows, for the next kernel.
template <class Team, class S>
STICTION_FN void forget_arena(const Team& team, const Launch& l, int env, const Arena& a,
                              EnvView<S>& e) {
  void** const pointers = reinterpret_cast<void**>(&e);
  team.sync();  // all threads have finished reading through the view
  team.for_each(a.count,
                [&](int k) { pointers[a.entry[k].place] = row_of(l, a.entry[k].field, env); });
}

STICTION_PHYSICS_END
