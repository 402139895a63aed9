#include "arrays.h"

#include <nanobind/stl/string.h>

#include <string>

#include "as_array.h"
#include "stiction/error.h"

namespace stiction::python {

std::string text(nb::handle o) {
  return nb::cast<std::string>(nb::str(o));
}
nb::object as_array(const nb::object& given, const std::string& name) {
  try {
    return nb::module_::import_("numpy").attr("asarray")(given);
  } catch (const nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    const std::string why = text(e.value());
    const bool ragged = why.find("inhomogeneous") != std::string::npos;
    throw ArgumentError(name + ": not an array" +
                        (ragged ? ": lists in it differ in length" : " (" + why + ")"));
  }
}
bool is_real(nb::handle array) {
  const std::string kind = text(array.attr("dtype").attr("kind"));
  return std::string("fiub").find(kind) != std::string::npos;
}

namespace {

std::string shape_text(nb::handle array) {
  return text(array.attr("shape"));
}

// "(19,) = (nq,)"
std::string expected_text(std::initializer_list<int> shape, const char* symbols) {
  std::string s;
  for (const int n : shape) s += (s.empty() ? "" : ", ") + std::to_string(n);
  return "(" + s + (shape.size() == 1 ? ",)" : ")") + " = " + symbols;
}

bool same_shape(nb::handle array, std::initializer_list<int> shape) {
  const auto given = nb::borrow<nb::tuple>(array.attr("shape"));
  if (given.size() != shape.size()) return false;
  std::size_t k = 0;
  for (const int n : shape)
    if (nb::cast<long long>(given[k++]) != n) return false;
  return true;
}

// Anything NumPy understands, as a contiguous float64 array.
nb::object convert(const nb::object& given, const std::string& name, const std::string& expected) {
  nb::object array;
  try {
    array = as_array(given, name);
  } catch (const ArgumentError& e) {
    throw ArgumentError(e.what() + ("; expected real numbers of shape " + expected));
  }
  if (!is_real(array) && nb::cast<int>(array.attr("size")) > 0)
    throw ArgumentError(name + ": given dtype " + text(array.attr("dtype")) + " of shape " +
                        shape_text(array) + "; expected real numbers of shape " + expected);
  nb::object order = nb::str("C");
  return array.attr("astype")("float64", nb::arg("order") = order, nb::arg("copy") = false);
}

}  // namespace

Input::Input(const nb::object& given, const char* name, std::initializer_list<int> shape,
             const char* symbols) {
  if (!given.is_valid() || given.is_none()) return;
  const std::string expected = expected_text(shape, symbols);
  const nb::object array = convert(given, name, expected);
  if (!same_shape(array, shape))
    throw ArgumentError(std::string(name) + ": given shape " + shape_text(array) +
                        "; expected shape " + expected);
  array_ = nb::cast<decltype(array_)>(array);
  span_ = {array_.data(), array_.size()};
}

}  // namespace stiction::python
