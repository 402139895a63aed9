// NumPy arrays in and out: views of C++ vectors without a copy, and checked arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace stiction::python {

namespace nb = nanobind;

// An array argument: anything NumPy turns into real numbers. Appears in stubs as ArrayLike.
class ArrayLike : public nb::object {
  static bool any(PyObject*) { return true; }
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "numpy.typing.ArrayLike", any)
};
using MaybeArray = std::optional<ArrayLike>;

std::string text(nb::handle o);  // str(o)
// Whether NumPy's array has real numbers: floats, integers or booleans.
bool is_real(nb::handle array);

// A contiguous float64 array that stays alive as long as this object: the caller's memory where it
// has that form already, else a converted copy.
class Input {
 public:
  // Absent (None): an empty span.
  Input() = default;

  // Throws ArgumentError naming the argument, what was given, and the shape that was expected.
  // `symbols` says in words what the shape is made of: "(nq,)".
  Input(const nb::object& given, const char* name, std::initializer_list<int> shape,
        const char* symbols);

  std::span<const double> span() const { return span_; }
  operator std::span<const double>() const { return span_; }

 private:
  nb::ndarray<const double, nb::c_contig, nb::device::cpu> array_;
  std::span<const double> span_;
};

// What an enum is stored as; other numbers are themselves.
template <class T, bool = std::is_enum_v<T>>
struct Stored {
  using Type = T;
};
template <class T>
struct Stored<T, true> {
  using Type = std::underlying_type_t<T>;
};

// NumPy array over `data`, one axis of any length and then `Columns`; `owner` keeps it alive.
// Read-only where T is const.
template <int... Columns, class T>
auto view(T* data, std::size_t size, nb::handle owner) {
  using Plain = typename Stored<std::remove_const_t<T>>::Type;
  using Element = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  using View = nb::ndarray<nb::numpy, Element, nb::shape<-1, Columns...>>;
  constexpr std::size_t per_row = (std::size_t{1} * ... * std::size_t{Columns});
  // An empty vector may have no memory, but an array needs an address.
  static constinit std::remove_const_t<Plain> nothing{};
  const auto address = data ? reinterpret_cast<Element*>(data) : &nothing;
  return View(address, {size / per_row, std::size_t{Columns}...}, owner);
}

// The same with a number of columns known only at run time.
template <class T>
auto matrix_view(T* data, std::size_t rows, std::size_t columns, nb::handle owner) {
  static constinit std::remove_const_t<T> nothing{};
  return nb::ndarray<nb::numpy, T, nb::shape<-1, -1>>(data ? data : &nothing, {rows, columns},
                                                      owner);
}

// Property `name` of a result class: a writable view that keeps the result alive.
template <int... Columns, class Class, class T>
void def_array(nb::class_<Class>& c, const char* name, std::vector<T> Class::*field,
               const char* doc) {
  c.def_prop_ro(
      name,
      [field](nb::handle_t<Class> self) {
        auto& v = nb::cast<Class&>(self).*field;
        return view<Columns...>(v.data(), v.size(), self);
      },
      doc);
}
template <class Class>
void def_array(nb::class_<Class>& c, const char* name, std::array<double, 3> Class::*field,
               const char* doc) {
  c.def_prop_ro(
      name,
      [field](nb::handle_t<Class> self) {
        return nb::ndarray<nb::numpy, double, nb::shape<3>>((nb::cast<Class&>(self).*field).data(),
                                                            {3}, self);
      },
      doc);
}

}  // namespace stiction::python
