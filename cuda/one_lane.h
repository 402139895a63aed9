// Decisions that physics/solver/solve.h makes for the lanes of a pack, for a single environment: it never waits for
// others, and the iterate has moved since the last test whenever the solve has made an iteration. So neither is kept in
// register.
#pragma once

#include "cuda/group_team.h"
#include "physics/solver/solve.h"

STICTION_PHYSICS_BEGIN

template <class Group, class S>
STICTION_FN void judge(const GroupTeam<Group>& team, const ModelView& m, EnvView<S>& e,
                       SolveState<S>& s, int) {
  do {
    residual(team, m, e, s);
    s.moved = s.round > S(0.0);
    const bool first = s.active && is_first_look(m, e, s);
    leave(m, s);
    if (first && !s.active && !s.bad && !s.not_converged) {
      follow_at_once(team, m, e, s, true);
      leave(m, s);
    }
  } while (!s.active && solve_again(team, m, e, s));
}

STICTION_PHYSICS_END
