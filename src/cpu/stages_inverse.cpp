#include "cpu/stages.h"
#include "physics/solver/inverse.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(inverse)
STICTION_PHYSICS_END
