#include "cpu/stages.h"
#include "physics/contact/collide.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(collide)
STICTION_PHYSICS_END
