#include "cpu/stages.h"
#include "physics/sensor/quantities.h"

STICTION_PHYSICS_BEGIN

void store_quantity(const ModelView& m, const EnvView<Number>& e, Quantity which,
                    Wide<Number>* out) {
  quantity(m, e, which, out);
}

void store_jacobian(const ModelView& m, const EnvView<Number>& e, int objtype, int id,
                    const Wide<Number>* point, Wide<Number>* out) {
  const Frame<Number> f = frame_of(m, e, objtype, id);
  jacobian(m, e, f.body, point != nullptr ? load3(point, 0) : f.pos, out);
}

STICTION_PHYSICS_END
