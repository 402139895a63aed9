// The bound Batch, in parts: fields and parameters, states and resets, numbers about it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "stiction/batch.h"

namespace stiction::python {

// Keeps the Python Model that it was made from, so that `batch.model is model`, and what owns the
// batch: itself or an Env.
struct BoundBatch {
  std::shared_ptr<LoadedModel> model;
  std::shared_ptr<void> owner;
  Batch& engine;
};

// An array of its own. T: const double where writing into it would change nothing.
template <class T = double>
nb::object array_of(std::vector<double> numbers, const std::vector<int>& shape) {
  auto* kept = new std::vector<double>(std::move(numbers));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  const std::vector<std::size_t> sizes(shape.begin(), shape.end());
  static constinit double nothing{};
  return nb::ndarray<nb::numpy, T>(kept->empty() ? &nothing : kept->data(), sizes.size(),
                                   sizes.data(), owner)
      .cast();
}

// Indices of environments, or a mask of all of them, as indices. Throws ArgumentError.
std::vector<int> parse_ids(const Batch& b, const nb::object& given, const char* name);
// None: all environments.
std::vector<int> ids_or_all(const Batch& b, const MaybeArray& given);
Precision parse_precision(const std::string& name);
const char* name_of(Precision p);
// A number, or an object of torch or CuPy that has one; None: the default stream.
std::uintptr_t parse_stream(const nb::object& stream);

// Lets Ctrl-C end a call that takes long: Python's signal handlers run, in the main thread only, and
// what they raise is thrown.
void check_signals();
// Raises a warning of Python's where there is one to give, with the GIL held.
void warn(const std::string& text);

// NumPy array over the batch's own memory, or a DeviceArray; `owner` keeps the batch alive.
nb::object batch_array(Batch& batch, const ArrayView& view, nb::handle owner);

void bind_batch_fields(nb::class_<BoundBatch>& c);
void bind_batch_state(nb::class_<BoundBatch>& c);
void bind_contacts(nb::module_& m);
nb::object contacts_of(const Batch& batch, const MaybeArray& ids);
void bind_batch_compute(nb::class_<BoundBatch>& c);
void bind_batch_numbers(nb::module_& m);
void bind_gradient(nb::module_& m);

}  // namespace stiction::python
