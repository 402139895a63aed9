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

// Numbers of somebody else in the memory of a device; `owner` keeps them alive.
struct Lent {
  void* data;
  nb::object owner;
};

// Where `value` has numbers for `like` (dtype and shape, contiguous) in the memory of its device,
// after the work of their producer: an array of a batch there, DLPack or the CUDA array interface.
// Nothing where it is on the host. Throws ArgumentError where they do not fit.
std::optional<Lent> lent_by(const DeviceArray& like, const nb::object& value);
// What the default stream writes into it next waits for the batch's work so far.
void give_back(const DeviceArray& like);

// Writes numbers of the same shape, or with `broadcast` of one that NumPy broadcasts to it: arrays of
// the host, or of a device that speaks DLPack or the CUDA array interface.
void write(const DeviceArray& array, const nb::object& value, bool broadcast);

void bind_device_array(nb::module_& m);

}  // namespace stiction::python
