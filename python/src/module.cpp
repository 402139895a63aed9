// stiction._core: the compiled half of the Python package.
#include "module.h"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

#include "stiction/error.h"
#include "stiction/text.h"

NB_MODULE(_core, m) {
  using namespace stiction;
  namespace nb = nanobind;

  // Whoever keeps a model in a module that outlives this one would read about it at exit.
  nb::set_leak_warnings(false);

  m.doc() = "Compiled core of stiction: models, options, the batch and the reference engine.";
  m.attr("__version__") = STICTION_VERSION;

  // Translators are tried last registered first, so that the base class comes last.
  nb::exception<Error> error(m, "Error");
  nb::exception<ModelError> model_error(m, "ModelError", error);
  nb::exception<ArgumentError> argument_error(m, "ArgumentError",
                                              nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  error.doc() = "Base of everything that stiction raises on purpose.";
  model_error.doc() =
      "A model that can't be read, is physically impossible, or was refused.\n\n"
      "The message names file, line, element, attribute and value. `report` is the LoadReport of "
      "what had been read.";
  model_error.attr("report") = nb::none();
  argument_error.doc() =
      "A wrong argument: shape, range, name or non-finite value; the message shows what was given.";

  m.def(
      "visible",
      [](const nb::bytes& utf8, bool lines) {
        const std::string_view text(utf8.c_str(), utf8.size());
        return lines ? visible_lines(text) : visible(text);
      },
      nb::arg("utf8"), nb::arg("lines") = false,
      "Text of a file with everything escaped that a terminal would obey or not show; with `lines` "
      "line breaks stay.");

  // a warning is Python's alone: no C++ exception stands behind it
  const std::string warning_name = nb::cast<std::string>(m.attr("__name__")) + ".ModelWarning";
  const nb::object model_warning = nb::steal(PyErr_NewExceptionWithDoc(
      warning_name.c_str(),
      "A model was loaded of which something is not computed: ignored physics, or geom pairs "
      "without a collider.",
      PyExc_UserWarning, nullptr));
  if (!model_warning.is_valid()) throw nb::python_error();
  m.attr("ModelWarning") = model_warning;

  python::bind_types(m);
  python::bind_report(m);
  python::bind_model(m, model_error);
  python::bind_options(m);
  python::bind_results(m);
  python::bind_reference(m);
  python::bind_rollout(m);
  python::bind_devices(m);
  python::bind_batch(m);
  python::bind_draw(m);
  python::bind_env(m);
  python::bind_terrain(m);
}
