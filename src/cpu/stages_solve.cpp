#include "cpu/stages.h"
#include "physics/rows.h"
#include "physics/solve.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(rows)
STICTION_DEFINE_STAGE(solve)
STICTION_PHYSICS_END
