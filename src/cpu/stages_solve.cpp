#include "cpu/solve_two.h"
#include "cpu/stages.h"
#include "physics/solver/rows.h"
#include "physics/solver/solve.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(rows)
STICTION_DEFINE_STAGE(solve)
#if !defined(STICTION_PLAIN_FLOAT) && !defined(STICTION_PLAIN_DOUBLE)
void solve_two(const ModelView& m, EnvView<Number>& first, EnvView<Number>& second,
               EnvView<Number>& shared) {
  solve_two_packs(m, first, second, shared);
}
#endif
STICTION_PHYSICS_END
