// Solves the problems of two packs. A pack takes as long as its slowest lane, so each pack iterates by itself until
// half of its lanes are done; then the remaining lanes are gathered into a shared third pack and scattered when done.
//
// The numbers of a lane are the same in any pack: points that do not act in it add exact zeros, and the others are in
// the order of their slots everywhere.
#pragma once

#include <initializer_list>
#include <limits>

#include "cpu/pack.h"
#include "physics/solver/solve.h"

STICTION_PHYSICS_BEGIN

// Lane l of a pack is taken from the first of two packs if from[l] = 0 ... W - 1, from the second if W ... 2 W - 1.
struct LaneChoice {
  typename Vector<float>::Bits from;
};

template <class V>
STICTION_FN V chosen(const V& a, const V& b, const LaneChoice& choice) {
#if defined(__clang__)
  V r = a;
  for (int lane = 0; lane < kNativeLanes; ++lane) {
    const int from = choice.from[lane];
    r[lane] = from < kNativeLanes ? a[from] : b[from - kNativeLanes];
  }
  return r;
#else
  return __builtin_shuffle(a, b, choice.from);
#endif
}
// For numbers and for masks.
template <template <class, int> class P, int W>
STICTION_FN P<float, W> chosen(const P<float, W>& a, const P<float, W>& b,
                               const LaneChoice& choice) {
  static_assert(P<float, W>::kVectors == 1);
  P<float, W> r;
  r.v[0] = chosen(a.v[0], b.v[0], choice);
  return r;
}

// Data of the solve of a step: f(field, n), n numbers of it. First the constants.
template <class S, class F>
STICTION_FN void for_constants(const ModelView& m, const F& f) {
  using E = EnvView<S>;
  f(&E::A, m.ntri), f(&E::inv_A, m.nv), f(&E::cdof, 6 * m.nv), f(&E::moment, m.nmoment);
  f(&E::row_law, 4 * m.nrow), f(&E::qfrc_smooth, m.nv), f(&E::ncon, 1);
}
template <class S, class F>
STICTION_FN void for_iterate(const ModelView& m, const F& f) {
  using E = EnvView<S>;
  f(&E::v, m.ncoord), f(&E::momentum, m.nv), f(&E::Av, m.nv), f(&E::gradient, m.nv);
  f(&E::contact_impulse, m.nv), f(&E::row_impulse, m.ncoord), f(&E::row_hess, m.ncoord);
  f(&E::row_dual, m.nv);
}
// n numbers per point: constants that may be any finite number where the point does not act, ...
template <class S, class F>
STICTION_FN void for_frames(const F& f) {
  using E = EnvView<S>;
  f(&E::point_normal, 3), f(&E::point_r1, 3), f(&E::point_r2, 3), f(&E::point_w, 1);
}
// ... and constants that must be zero there.
template <class S, class F>
STICTION_FN void for_laws(const ModelView& m, const F& f) {
  using E = EnvView<S>;
  f(&E::point_mu, 1), f(&E::point_d, 1), f(&E::point_law, 4);
  if (m.opt.shifted) f(&E::point_shift, 3);
  if (m.opt.shifted && m.ncouple > 0) f(&E::point_couple_shift, 3);
}
// Variables: soft-norm speeds, which are positive in every lane, with the torsional and rolling coefficients, ...
template <class S, class F>
STICTION_FN void for_scales(const ModelView& m, const F& f) {
  f(&EnvView<S>::point_eps, 1);
  if (m.ncouple > 0) f(&EnvView<S>::point_couple_law, 5);
}
// ... and variables that are zero where the point does not act.
template <class S, class F>
STICTION_FN void for_impulses(const ModelView& m, const F& f) {
  using E = EnvView<S>;
  f(&E::point_n0, 1), f(&E::point_vel, 3), f(&E::point_impulse, 3), f(&E::point_hess, 6);
  f(&E::point_dual, 3), f(&E::point_r, 1), f(&E::point_push, 1), f(&E::point_miss, 1);
  if (m.ncouple == 0) return;
  f(&E::point_omega, 3), f(&E::point_couple, 3), f(&E::point_couple_hess, 6);
}
template <class S, class F>
STICTION_FN void for_state(const F& f) {
  using T = SolveState<S>;
  for (Mask<S> T::*x : {&T::active, &T::bad, &T::failed, &T::stalled, &T::not_converged,
                        &T::full_step, &T::moved, &T::open, &T::bounded, &T::follows})
    f(x);
  for (S T::*x :
       {&T::residual, &T::scale, &T::last_residual, &T::decrease, &T::small_steps, &T::flat_steps,
        &T::iterations, &T::evaluations, &T::solves, &T::renewals, &T::relaxation, &T::round})
    f(x);
}

// Two packs, of which at most half of the lanes still iterate, and the pack that these lanes share.
template <class S>
class SharedPack {
  static constexpr int W = kLanes<S>;

 public:
  SharedPack(const ModelView& m, EnvView<S>& first, EnvView<S>& second, EnvView<S>& shared)
      : m_(m), from_{&first, &second}, to_(shared) {}

  void gather(const SolveState<S>& a, const SolveState<S>& b, SolveState<S>& s) {
    choose_lanes(a.active, b.active);
    for_state<S>([&](auto x) { s.*x = chosen(a.*x, b.*x, choice_); });
    s.active = s.active && used_, s.open = s.open && used_;
    s.lanes = count_lanes(s.active);
    const auto take = [&](auto field, int n) {
      const S *const x = from_[0]->*field, *const y = from_[1]->*field;
      for (int i = 0; i < n; ++i) (to_.*field)[i] = chosen(x[i], y[i], choice_);
    };
    for_constants<S>(m_, take), for_iterate<S>(m_, take);
    for (int c = 0; c < m_.ncoord; ++c) to_.dv[c] = S(0.0);
    gather_points(s.active);
    const TeamOfOne one;
    model_structure(one, m_, to_);
    couple_points(one, m_, to_);
    live_points(one, m_, to_, s.active, LivePoints::of_lanes);
  }

  // Scatters the results of its lanes to the packs that they came from.
  void scatter(const SolveState<S>& s, SolveState<S>& a, SolveState<S>& b) {
    SolveState<S>* const state[2] = {&a, &b};
    for (int k = 0; k < 2; ++k) {
      const auto give = [&](auto& x, const auto& found) {
        x = select(came_[k], chosen(found, found, back_[k]), x);
      };
      for_state<S>([&](auto x) { give(state[k]->*x, s.*x); });
      for_iterate<S>(m_, [&](auto field, int n) {
        for (int i = 0; i < n; ++i) give((from_[k]->*field)[i], (to_.*field)[i]);
      });
      int there = 0;
      for (int p = 0; p < to_.npoint[0]; ++p) {
        there = place_of(k, there, to_.point_slot[p]);
        if (there == from_[k]->npoint[0]) break;
        if (from_[k]->point_slot[there] != to_.point_slot[p]) continue;
        const auto give_point = [&](auto field, int n) {
          for (int i = 0; i < n; ++i)
            give((from_[k]->*field)[n * there + i], (to_.*field)[n * p + i]);
        };
        for_scales<S>(m_, give_point), for_impulses<S>(m_, give_point);
      }
    }
  }

 private:
  void choose_lanes(const Mask<S>& first, const Mask<S>& second) {
    std::int32_t from[W] = {}, back[2][W] = {}, came[2][W] = {}, used[W] = {}, is_first[W] = {};
    int count = 0;
    for (int k = 0; k < 2; ++k)
      for (int lane = 0; lane < W; ++lane) {
        if (!get_lane(k == 0 ? first : second, lane)) continue;
        from[count] = k * W + lane, used[count] = -1, is_first[count] = k == 0 ? -1 : 0;
        back[k][lane] = count++, came[k][lane] = -1;
      }
    // the other lanes copy one that is used
    for (int lane = count; lane < W; ++lane) from[lane] = from[0], is_first[lane] = is_first[0];
    const auto copy = [](auto& to, const std::int32_t* words) {
      std::memcpy(&to, words, sizeof to);
    };
    copy(choice_.from, from), copy(used_.v[0], used), copy(is_first_.v[0], is_first);
    for (int k = 0; k < 2; ++k) copy(back_[k].from, back[k]), copy(came_[k].v[0], came[k]);
  }

  // Returns the first point of pack k, from `point` on, whose slot is not before `slot`.
  int place_of(int k, int point, int slot) const {
    while (point < from_[k]->npoint[0] && from_[k]->point_slot[point] < slot) ++point;
    return point;
  }

  // Gathers the points of either pack that act in one of the lanes, in ascending order of their slots.
  void gather_points(const Mask<S>& lanes) {
    int count = 0, at[2] = {0, 0};
    const auto next = [&](int k) {
      return at[k] < from_[k]->npoint[0] ? from_[k]->point_slot[at[k]]
                                         : std::numeric_limits<int>::max();
    };
    while (at[0] < from_[0]->npoint[0] || at[1] < from_[1]->npoint[0]) {
      const int slots[2] = {next(0), next(1)}, slot = slots[0] < slots[1] ? slots[0] : slots[1];
      const bool has[2] = {slots[0] == slot, slots[1] == slot};
      if (gather_point(slot, at, has, lanes, count)) ++count;
      for (int k = 0; k < 2; ++k) at[k] += has[k] ? 1 : 0;
    }
    to_.npoint[0] = count;
  }

  // Gathers the point at at[k] of the packs that have it as point p; false: it acts in no lane.
  bool gather_point(int slot, const int* at, const bool* has, const Mask<S>& lanes, int p) {
    const int one = has[0] ? 0 : 1, other = has[1] ? 1 : 0;
    const EnvView<S>&a = *from_[one], &b = *from_[other];
    const Mask<S> none = no_lanes<S>();
    const Mask<S> there = (has[0] ? is_first_ : none) || (has[1] ? !is_first_ : none);
    const S zero = S(0.0);
    const S acts = select(there, chosen(a.cand_active[slot], b.cand_active[slot], choice_), zero);
    if (!any_lane(lanes && acts > S(0.5))) return false;
    to_.cand_active[slot] = acts;
    to_.point_slot[p] = slot;
    for (int side = 0; side < 2; ++side)
      to_.point_weld[2 * p + side] = a.point_weld[2 * at[one] + side];
    // other lanes may hold numbers of an environment that are not finite
    const auto take_or = [&](auto field, int n, const S& other_lanes) {
      const S *const x = a.*field + n * at[one], *const y = b.*field + n * at[other];
      S* const to = to_.*field + n * p;
      for (int i = 0; i < n; ++i) to[i] = select(there, chosen(x[i], y[i], choice_), other_lanes);
    };
    const auto take_or_zero = [&](auto field, int n) { take_or(field, n, zero); };
    for_frames<S>(take_or_zero), for_laws<S>(m_, take_or_zero), for_impulses<S>(m_, take_or_zero);
    for_scales<S>(m_, [&](auto field, int n) { take_or(field, n, S(1.0)); });
    store3(to_.point_dvel, p, zero3<S>());
    if (m_.ncouple == 0) return true;
    store3(to_.point_domega, p, zero3<S>());
    for (int i = 0; i < 2; ++i) {
      S& coefficient = to_.point_couple_law[5 * p + i];
      coefficient = select(there, coefficient, zero);
    }
    return true;
  }

  const ModelView& m_;
  EnvView<S>* from_[2];
  EnvView<S>& to_;
  LaneChoice choice_, back_[2];
  Mask<S> used_, is_first_, came_[2];
};

template <class S>
STICTION_FN void solve_two_packs(const ModelView& m, EnvView<S>& first, EnvView<S>& second,
                                 EnvView<S>& shared) {
  const TeamOfOne one;
  SolveState<S> a, b;
  start_solve(one, m, first, a), start_solve(one, m, second, b);
  iterate(one, m, first, a, kLanes<S> / 2), iterate(one, m, second, b, kLanes<S> / 2);
  if (any_lane(a.active) && any_lane(b.active)) {
    SharedPack<S> pack(m, first, second, shared);
    SolveState<S> s;
    pack.gather(a, b, s);
    iterate(one, m, shared, s, 0);
    pack.scatter(s, a, b);
  }
  iterate(one, m, first, a, 0), iterate(one, m, second, b, 0);
  end_solve(one, m, first, a), end_solve(one, m, second, b);
}

STICTION_PHYSICS_END
