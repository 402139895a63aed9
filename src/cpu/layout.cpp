#include "cpu/layout.h"

namespace stiction::cpu {

FieldSpecs field_specs(const physics::SizesView& s) {
  return {{
#define X(kind, type, name, rows, columns, producer, meaning) \
  {#name, FieldKind::kind, FieldType::type, s.rows, s.columns, #producer, meaning},
#include "physics/base/fields.def"
#undef X
  }};
}

QuantitySpecs quantity_specs(const physics::SizesView& s) {
  return {{
#define X(name, rows, columns, meaning) {#name, s.rows, s.columns, meaning},
#include "physics/base/quantities.def"
#undef X
  }};
}

}  // namespace stiction::cpu
