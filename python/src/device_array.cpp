#include "device_array.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "as_array.h"
#include "stiction/error.h"

namespace stiction::python {
namespace {

// Streams by number, as DLPack has them: no stream, and CUDA's default one.
constexpr long long kNoStream = -1, kDefaultStream = 1;
// DLPack's numbers of kinds of memory
constexpr int kCpu = 1, kCuda = 2, kCudaManaged = 13;

bool on_cuda(const DeviceArray& a) {
  return a.view.device.rfind("cuda", 0) == 0;
}
std::size_t number_bytes(DType d) {
  return d == DType::float64 ? 8 : d == DType::uint8 ? 1 : 4;
}
std::size_t bytes_of(const ArrayView& v) {
  return static_cast<std::size_t>(v.size()) * number_bytes(v.dtype);
}
const char* dtype_name(DType d) {
  constexpr const char* kNames[] = {"float32", "float64", "int32", "uint32", "bool"};
  return kNames[static_cast<int>(d)];
}
const char* type_string(DType d) {
  constexpr const char* kNames[] = {"<f4", "<f8", "<i4", "<u4", "|b1"};
  return kNames[static_cast<int>(d)];
}
nb::tuple shape_of(const ArrayView& v) {
  nb::list shape;
  for (int k = 0; k < v.ndim; ++k) shape.append(v.shape[static_cast<std::size_t>(k)]);
  return nb::tuple(shape);
}
nb::object numpy() {
  return nb::module_::import_("numpy");
}

[[noreturn]] void refuse(const DeviceArray& a, const std::string& what) {
  throw ArgumentError("batch." + a.view.name + ": " + what);
}
[[noreturn]] void refuse_value(const DeviceArray& a, const std::string& given) {
  refuse(a, "given " + given + "; expected " + dtype_name(a.view.dtype) + " of shape " +
                text(shape_of(a.view)) + ", contiguous");
}

void copy(const DeviceArray& a, void* to, const void* from) {
  const nb::gil_scoped_release release;
  a.batch.copy_memory(to, from, bytes_of(a.view));
}

nb::object to_numpy(const DeviceArray& a) {
  const nb::object array =
      numpy().attr("empty")(shape_of(a.view), nb::arg("dtype") = dtype_name(a.view.dtype));
  if (a.view.size() > 0)
    copy(a, nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array).data(), a.view.data);
  return array;
}

// The stream of this batch as consumers and producers number streams.
long long own_stream(const DeviceArray& a) {
  const auto stream = static_cast<long long>(a.batch.stream());
  return stream == 0 ? kDefaultStream : stream;
}

// An array of the same device, of this batch or another one.
std::optional<Borrowed> borrow_ours(const DeviceArray& a, const nb::object& value) {
  if (!nb::isinstance<DeviceArray>(value)) return std::nullopt;
  const auto& given = nb::cast<const DeviceArray&>(value);
  if (given.view.device != a.view.device) return std::nullopt;
  if (given.view.dtype != a.view.dtype || given.view.ndim != a.view.ndim ||
      given.view.shape != a.view.shape)
    refuse_value(
        a, std::string(dtype_name(given.view.dtype)) + " of shape " + text(shape_of(given.view)));
  given.batch.release_to(a.batch.stream());
  return Borrowed{given.view.data, value};
}

// Device memory that speaks DLPack; the producer makes our stream wait for its work.
std::optional<Borrowed> borrow_dlpack(const DeviceArray& a, const nb::object& value) {
  if (!nb::hasattr(value, "__dlpack__") || !nb::hasattr(value, "__dlpack_device__"))
    return std::nullopt;
  const auto place = nb::cast<nb::tuple>(value.attr("__dlpack_device__")());
  const int kind = nb::cast<int>(nb::int_(place[0]));
  if (kind != kCuda && kind != kCudaManaged) return std::nullopt;
  if (!on_cuda(a)) refuse(a, "given an array on a card; this batch is on " + a.view.device);
  const nb::object capsule = value.attr("__dlpack__")(nb::arg("stream") = own_stream(a));
  const auto given = nb::cast<nb::ndarray<nb::ro>>(capsule);
  bool fits = given.ndim() == static_cast<std::size_t>(a.view.ndim) &&
              given.dtype() == dtype_of(a.view.dtype);
  std::int64_t stride = 1;
  for (std::size_t k = given.ndim(); fits && k-- > 0;) {
    fits = static_cast<std::int64_t>(given.shape(k)) == a.view.shape[k] &&
           (given.shape(k) == 1 || given.stride(k) == stride);
    stride *= a.view.shape[k];
  }
  if (!fits)
    refuse_value(a, (nb::hasattr(value, "dtype") ? text(value.attr("dtype")) : "an array") +
                        " of shape " + text(nb::object(value.attr("shape"))));
  // a reference: it came as a capsule, so nanobind has no owner to name and would copy
  return Borrowed{const_cast<void*>(given.data()), nb::cast(given, nb::rv_policy::reference)};
}

std::optional<Borrowed> borrow_cuda_array(const DeviceArray& a, const nb::object& value) {
  if (!nb::hasattr(value, "__cuda_array_interface__")) return std::nullopt;
  const auto given = nb::cast<nb::dict>(value.attr("__cuda_array_interface__"));
  if (!on_cuda(a)) refuse(a, "given an array on a card; this batch is on " + a.view.device);
  const bool strided = given.contains("strides") && !nb::object(given["strides"]).is_none();
  if (strided || !nb::object(given["shape"]).equal(shape_of(a.view)) ||
      nb::cast<std::string>(given["typestr"]) != type_string(a.view.dtype))
    refuse_value(a, nb::cast<std::string>(given["typestr"]) + " of shape " +
                        text(nb::object(given["shape"])) + (strided ? ", with strides" : ""));
  if (given.contains("stream") && !nb::object(given["stream"]).is_none())
    a.batch.wait_for(nb::cast<std::uintptr_t>(given["stream"]));
  const auto data = nb::cast<nb::tuple>(given["data"]);
  // the interface gives an address as a number
  const auto address = nb::cast<std::uintptr_t>(data[0]);
  return Borrowed{reinterpret_cast<void*>(address), value};  // NOLINT(performance-no-int-to-ptr)
}

void write_host(const DeviceArray& a, const nb::object& value, bool broadcast) {
  nb::object array = as_array(nb::borrow(value), "value");
  const nb::object shape = shape_of(a.view);
  const std::string given =
      "dtype " + text(array.attr("dtype")) + " of shape " + text(array.attr("shape"));
  if (!is_real(array)) refuse_value(a, given);
  if (!array.attr("shape").equal(shape)) {
    if (!broadcast) refuse_value(a, given + "; batch." + a.view.name + "[:] = ... broadcasts");
    try {
      array = numpy().attr("broadcast_to")(array, shape);
    } catch (const nb::python_error&) {
      refuse_value(a, given);
    }
  }
  array = numpy().attr("ascontiguousarray")(array, nb::arg("dtype") = dtype_name(a.view.dtype));
  if (a.view.size() > 0)
    copy(a, a.view.data,
         nb::cast<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>(array).data());
}

// array[:] = value and array[...] = value.
void set_item(const DeviceArray& a, const nb::object& key, const nb::object& value) {
  const bool all =
      key.is(nb::ellipsis()) ||
      (nb::isinstance<nb::slice>(key) && key.equal(nb::slice(nb::none(), nb::none(), nb::none())));
  if (!all)
    refuse(a, "only [:] and [...] can be assigned on " + a.view.device +
                  "; for parts take torch.from_dlpack(batch." + a.view.name + ")[...] = ...");
  write(a, value, true);
}

nb::object to_dlpack(nb::handle_t<DeviceArray> self, const nb::object& stream,
                     const nb::kwargs& rest) {
  const auto& a = nb::cast<DeviceArray&>(self);
  if (on_cuda(a)) {
    const long long s = stream.is_none() ? kDefaultStream : nb::cast<long long>(stream);
    if (s == 0 || s < kNoStream)
      throw ArgumentError("__dlpack__: stream = " + std::to_string(s) +
                          ": must be None, -1, 1, 2 or the address of a CUDA stream");
    if (s != kNoStream) a.batch.release_to(static_cast<std::uintptr_t>(s));
  } else if (!stream.is_none()) {
    throw ArgumentError("__dlpack__: stream must be None for memory of the host");
  }
  std::array<std::size_t, 3> shape{};
  for (std::size_t k = 0; k < shape.size(); ++k)
    shape[k] = static_cast<std::size_t>(a.view.shape[k]);
  const nb::object exported =
      nb::ndarray<nb::array_api>(a.view.data, static_cast<std::size_t>(a.view.ndim), shape.data(),
                                 self, nullptr, dtype_of(a.view.dtype), on_cuda(a) ? kCuda : kCpu,
                                 on_cuda(a) ? a.batch.device_number() : 0)
          .cast();
  return exported.attr("__dlpack__")(**rest);
}

nb::dict cuda_array_interface(const DeviceArray& a) {
  if (!on_cuda(a)) throw nb::attribute_error("__cuda_array_interface__");
  nb::dict d;
  d["shape"] = shape_of(a.view);
  d["typestr"] = type_string(a.view.dtype);
  d["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(a.view.data), !a.view.writable);
  d["strides"] = nb::none();
  d["version"] = 3;
  d["stream"] = own_stream(a);
  return d;
}

nb::object copied(const DeviceArray& a, const nb::object& dtype, const nb::object& copies) {
  if (!copies.is_none() && !nb::cast<bool>(copies))
    throw nb::value_error("a copy is needed: the numbers are on a device");
  const nb::object array = to_numpy(a);
  return dtype.is_none() ? array : array.attr("astype")(dtype, nb::arg("copy") = false);
}

}  // namespace

std::optional<Borrowed> borrow(const DeviceArray& like, const nb::object& value) {
  for (const auto borrow_as : {borrow_ours, borrow_dlpack, borrow_cuda_array})
    if (std::optional<Borrowed> borrowed = borrow_as(like, value)) return borrowed;
  return std::nullopt;
}

void return_borrowed(const DeviceArray& like) {
  if (on_cuda(like)) like.batch.release_to(static_cast<std::uintptr_t>(kDefaultStream));
}

void write(const DeviceArray& a, const nb::object& value, bool broadcast) {
  if (!a.view.writable) refuse(a, "an output, read-only");
  if (const std::optional<Borrowed> borrowed = borrow(a, value)) {
    copy(a, a.view.data, borrowed->data);
    return return_borrowed(a);
  }
  if (nb::isinstance<DeviceArray>(value))
    return write_host(a, to_numpy(nb::cast<const DeviceArray&>(value)), broadcast);
  write_host(a, value, broadcast);
}

void bind_device_array(nb::module_& m) {
  nb::class_<DeviceArray> c(
      m, "DeviceArray", nb::is_weak_referenceable(),
      "Numbers of a batch or of episodes on a device, in its memory.\n\n"
      "torch.from_dlpack(batch.qpos) shares it without a copy; `numpy()` copies it to the host.\n"
      "batch.ctrl[:] = x copies from NumPy, or on the device from whatever speaks DLPack or\n"
      "__cuda_array_interface__, after the work of its producer. The source may be written again "
      "by\n"
      "the batch's stream or the default one. Outputs are not to be written.");
  c.def_prop_ro("shape", [](const DeviceArray& a) { return shape_of(a.view); });
  c.def_prop_ro("dtype", [](const DeviceArray& a) {
    return numpy().attr("dtype")(dtype_name(a.view.dtype));
  });
  c.def_prop_ro("ndim", [](const DeviceArray& a) { return a.view.ndim; });
  c.def_prop_ro("size", [](const DeviceArray& a) { return a.view.size(); });
  c.def_prop_ro("nbytes", [](const DeviceArray& a) { return bytes_of(a.view); });
  c.def_prop_ro("device", [](const DeviceArray& a) { return a.view.device; });
  c.def_prop_ro("name", [](const DeviceArray& a) { return a.view.name; });
  c.def("numpy", &to_numpy, nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
        "A copy on the host, after the work so far.");
  c.def("__array__", &copied, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none());
  c.def("__setitem__", &set_item);
  c.def("__len__", [](const DeviceArray& a) { return a.view.shape[0]; });
  c.def(
      "__dlpack__", &to_dlpack, nb::arg("stream") = nb::none(), nb::arg("kwargs"),
      nb::sig("def __dlpack__(self, *, stream: int | None = None, **kwargs: typing.Any) -> object"),
      "Work given to `stream` from now on waits for the batch's work so far; -1: it does not.");
  c.def("__dlpack_device__", [](const DeviceArray& a) {
    return nb::make_tuple(on_cuda(a) ? kCuda : kCpu, on_cuda(a) ? a.batch.device_number() : 0);
  });
  c.def_prop_ro("__cuda_array_interface__", &cuda_array_interface);
  c.def("__repr__", [](const DeviceArray& a) {
    return "<stiction.DeviceArray '" + a.view.name + "' " + text(shape_of(a.view)) + " " +
           dtype_name(a.view.dtype) + " on " + a.view.device + ">";
  });
}

}  // namespace stiction::python
