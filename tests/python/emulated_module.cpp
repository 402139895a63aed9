// Makes device = "emulated" known to the Python module that is linked with this.
#include "batch/emulated_device.h"

namespace {
[[maybe_unused]] const bool registered = (stiction::test::register_emulated_device(), true);
}  // namespace
