#include "model/spec/sensor_types.h"

namespace stiction::model {
namespace {

struct Row {
  std::string_view name;
  SensorType type;
  int number, dim;
  bool interval, cutoff;
};
constexpr bool interval = true, state = false, cutoff = true, unbounded = false;
constexpr Row kRows[] = {
#define X(name, number, dim, of, bounds) {#name, SensorType::name, number, dim, of, bounds},
#include "stiction/sensors.def"
#undef X
};

// stiction/types.h must agree, for programs that do not read the list.
constexpr bool types_agree() {
  for (const Row& r : kRows)
    if (static_cast<int>(r.type) != r.number || of_interval(r.type) != r.interval ||
        has_cutoff(r.type) != r.cutoff)
      return false;
  return true;
}
static_assert(types_agree(), "stiction/types.h and stiction/sensors.def differ");

}  // namespace

std::optional<SensorType> sensor_type(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.type;
  return {};
}

int sensor_dim(SensorType type) {
  for (const Row& r : kRows)
    if (r.type == type) return r.dim;
  return 0;
}

}  // namespace stiction::model
