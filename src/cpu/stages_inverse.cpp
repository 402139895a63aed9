#include "cpu/stages.h"
#include "physics/inverse.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(inverse)
STICTION_PHYSICS_END
