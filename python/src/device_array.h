// Arrays of a batch that lives on a device: what DLPack and the CUDA array interface need.
#pragma once

#include <optional>

#include "batch.h"

namespace stiction::python {

// A field of a batch in the memory of its device; `owner` keeps the batch alive.
struct DeviceArray {
  ArrayView view;
  Batch& batch;
  nb::object owner;
};

nb::dlpack::dtype dtype_of(DType d);

// Numbers of the caller's in the memory of a device, read and not kept; `owner` keeps them alive.
struct Borrowed {
  void* data;
  nb::object owner;
};

// The numbers of `value` where they lie in the memory of `like`'s device, with its dtype and shape
// and contiguous: an array of a batch there, DLPack or the CUDA array interface. The batch's stream
// waits for the work of their producer. Nothing where they are on the host. Throws ArgumentError
// where dtype or shape is another.
std::optional<Borrowed> borrow(const DeviceArray& like, const nb::object& value);
// After the work that reads what was borrowed: what the default stream writes there next waits for
// it.
void return_borrowed(const DeviceArray& like);

// Writes numbers of the same shape, or with `broadcast` of one that NumPy broadcasts to it: arrays of
// the host, or of a device that speaks DLPack or the CUDA array interface.
void write(const DeviceArray& array, const nb::object& value, bool broadcast);

void bind_device_array(nb::module_& m);

}  // namespace stiction::python
