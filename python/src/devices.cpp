// What a batch can run on besides the CPU.
#include "stiction/devices.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "module.h"

namespace stiction::python {

void bind_devices(nb::module_& m) {
  nb::class_<CudaDevice>(m, "CudaDevice", "A card.")
      .def_ro("name", &CudaDevice::name, "as Batch takes it: 'cuda:0'")
      .def_ro("description", &CudaDevice::description)
      .def_prop_ro("compute_capability",
                   [](const CudaDevice& d) { return nb::make_tuple(d.major, d.minor); })
      .def_ro("memory", &CudaDevice::memory, "in bytes")
      .def_ro("free", &CudaDevice::free, "bytes of it")
      .def_ro("problem", &CudaDevice::problem, "why it can't be used; empty: it can")
      .def("__repr__", [](const CudaDevice& d) {
        return "<stiction.CudaDevice " + d.name + " " + d.description + ">";
      });
  nb::class_<CudaReport>(m, "CudaReport", "The CUDA back end of this build on this machine.")
      .def_ro("built", &CudaReport::built, "False: this build has none")
      .def_ro("toolkit", &CudaReport::toolkit, "version of CUDA it was built with")
      .def_ro("architectures", &CudaReport::architectures, "of the cards that it has code for")
      .def_ro("driver", &CudaReport::driver, "version of CUDA that the driver knows; empty: none")
      .def_ro("problem", &CudaReport::problem, "why there is no card; empty: there is one")
      .def_ro("devices", &CudaReport::devices, "list of CudaDevice");
  m.def("cuda_devices", &cuda_devices,
        "CudaReport: the cards here, or what is missing and how to get it.");
}

}  // namespace stiction::python
