// The bodies of the kernels: what a team does with one environment. A step is
//
//   dynamics | collide | solve      and after the last one   refresh
//
// as in physics/step.h, whose order of stages this is. Each kernel's scratch that no other kernel
// reads may lie anywhere (arena.h); the rest is the environment's own region.
#pragma once

#include "cuda/books.h"
#include "physics/step.h"

STICTION_PHYSICS_BEGIN

// A view of the rows of environment env; written by the team, since it lies where all lanes see it.
template <class Team>
STICTION_FN void bind_rows(const Team& team, const Launch& l, int env, EnvView<float>& e) {
  static_assert(sizeof(EnvView<float>) == kFields * sizeof(void*));
  void** const pointers = reinterpret_cast<void**>(&e);
  team.for_each(kFields, [&](int f) {
    pointers[f] = l.fields[f].first + l.fields[f].stride * static_cast<std::size_t>(env);
  });
}

template <class Team>
STICTION_FN void dynamics_body(const Team& team, const ModelView& m, const Launch& l, int env,
                               EnvView<float>& e) {
  if (!begin_step(team, m, l, env, e)) return;
  clear_flags(team, m, e);
  kinematics(team, m, e);
  inertia(team, m, e);
  bias(team, m, e);
  actuation(team, m, e);
  rows(team, m, e);
}

template <class Team>
STICTION_FN void collide_body(const Team& team, const ModelView& m, const Launch& l, int env,
                              EnvView<float>& e) {
  if (l.books.store[env] != 0) collide(team, m, e);
}

template <class Team>
STICTION_FN void solve_body(const Team& team, const ModelView& m, const Launch& l, int env,
                            EnvView<float>& e) {
  if (l.books.store[env] == 0) return;
  solve(team, m, e);
  if (l.last) interval_sensors(team, m, e);
  if (!l.moves) return;
  integrate(team, m, e);
  count_step(team, m, l, env, e);
}

template <class Team>
STICTION_FN void refresh_body(const Team& team, const ModelView& m, const Launch& l, int env,
                              EnvView<float>& e) {
  if (l.books.store[env] == 0) return;
  replace_bad_mocap(team, m, l, e);
  refresh(team, m, e);
  clean_outputs(team, m, l, env, e);
}

STICTION_PHYSICS_END
