#include "cpu/stages.h"
#include "physics/actuation/actuation.h"
#include "physics/actuation/tendons.h"
#include "physics/integrate.h"
#include "physics/tree/bias.h"
#include "physics/tree/fluid.h"
#include "physics/tree/gyroscopic.h"
#include "physics/tree/inertia.h"
#include "physics/tree/kinematics.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(kinematics)
STICTION_DEFINE_STAGE(velocities)
STICTION_DEFINE_STAGE(tendons)
STICTION_DEFINE_STAGE(bias)
STICTION_DEFINE_STAGE(inertia)
STICTION_DEFINE_STAGE(fluid)
STICTION_DEFINE_STAGE(activation_dynamics)
STICTION_DEFINE_STAGE(actuation)
STICTION_DEFINE_STAGE(gyroscopic_start)
STICTION_DEFINE_STAGE(gyroscopic_end)
STICTION_DEFINE_STAGE(integrate)
STICTION_PHYSICS_END
