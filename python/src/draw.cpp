// Random numbers of many environments at once, for stiction.philox.
#include "stiction/draw.h"

#include <nanobind/ndarray.h>

#include <memory>

#include "module.h"

namespace stiction::python {
namespace {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = Rows<std::uint32_t>;

// (n, count) numbers, row i from `first` on in the row of its key.
template <class T>
auto draw(void (*fill)(const DrawKey&, std::uint32_t, std::span<T>),
          const Rows<std::uint64_t>& seed, const Words& episode, std::uint32_t purpose,
          const Words& step, std::uint32_t first, std::size_t count) {
  const std::size_t n = seed.size();
  if (episode.size() != n || step.size() != n)
    throw nb::value_error("seed, episode and step differ in length");
  auto numbers = std::make_unique<T[]>(n * count);
  {
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < n; ++i)
      fill({seed.data()[i], episode.data()[i], purpose, step.data()[i]}, first,
           {numbers.get() + i * count, count});
  }
  T* data = numbers.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {n, count}, owner);
}

template <class T>
void def(nb::module_& m, const char* name,
         void (*fill)(const DrawKey&, std::uint32_t, std::span<T>), const char* doc) {
  m.def(
      name,
      [fill](const Rows<std::uint64_t>& seed, const Words& episode, std::uint32_t purpose,
             const Words& step, std::uint32_t first,
             std::size_t count) { return draw(fill, seed, episode, purpose, step, first, count); },
      nb::arg("seed"), nb::arg("episode"), nb::arg("purpose"), nb::arg("step"), nb::arg("first"),
      nb::arg("count"), doc);
}

}  // namespace

void bind_draw(nb::module_& m) {
  def(m, "draw_bits", &draw_bits, "(n, count) uint32; see stiction.Draw");
  def(m, "draw_uniform", &draw_uniform, "(n, count) float64 in (0, 1)");
  def(m, "draw_normal", &draw_normal, "(n, count) float64 of mean 0 and deviation 1");
}

}  // namespace stiction::python
