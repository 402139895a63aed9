// Arrays of a batch that lives on a device: what DLPack and the CUDA array interface need.
#pragma once

#include "batch.h"

namespace stiction::python {

// A field of a batch in the memory of its device; `owner` keeps the batch alive.
struct DeviceArray {
  ArrayView view;
  Batch& batch;
  nb::object owner;
};

nb::dlpack::dtype dtype_of(DType d);

// Writes numbers of the same shape, or with `broadcast` of one that NumPy broadcasts to it: arrays of
// the host, or of a device that speaks DLPack or the CUDA array interface.
void write(const DeviceArray& array, const nb::object& value, bool broadcast);

void bind_device_array(nb::module_& m);

}  // namespace stiction::python
