#include "cpu/stages.h"
#include "physics/sensor/sensors.h"

STICTION_PHYSICS_BEGIN
STICTION_DEFINE_STAGE(interval_sensors)
STICTION_DEFINE_STAGE(state_sensors)
STICTION_PHYSICS_END
