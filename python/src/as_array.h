// What NumPy makes of an argument.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace stiction::python {

namespace nb = nanobind;

// Throws ArgumentError that names the argument where it is no array.
nb::object as_array(const nb::object& given, const std::string& name);

}  // namespace stiction::python
