// Rays of the bound engines.
#pragma once

#include "batch.h"
#include "reference.h"

namespace stiction::python {

void bind_rays(nb::class_<BoundBatch>& c);
void bind_rays(nb::class_<BoundReference>& c);

}  // namespace stiction::python
