// BatchMemory, FieldInfo, SolverCounts.
#include <nanobind/stl/string.h>

#include <string>

#include "batch.h"

namespace stiction::python {
namespace {

void bind_memory(nb::module_& m) {
  nb::class_<BatchMemory>(m, "BatchMemory", "What a batch takes, in bytes.")
      .def_ro("per_env", &BatchMemory::per_env, "fields of one environment")
      .def_ro("per_thread", &BatchMemory::per_thread, "working set of one thread")
      .def_ro("total", &BatchMemory::total)
      .def_ro("device", &BatchMemory::device, "besides, in the device's own memory")
      .def_ro("mirror", &BatchMemory::mirror,
              "room on the host for copies of a device's rows; rows that were fetched take memory")
      .def_ro("local", &BatchMemory::local,
              "besides, on a card, at most what the driver takes for stacks and spills of all "
              "batches of a process")
      .def("__repr__", [](const BatchMemory& b) {
        return "<BatchMemory per_env=" + std::to_string(b.per_env) +
               " per_thread=" + std::to_string(b.per_thread) + " total=" + std::to_string(b.total) +
               (b.device > 0 ? " device=" + std::to_string(b.device) : "") +
               (b.local > 0 ? " local=" + std::to_string(b.local) : "") + ">";
      });
}

void bind_field_info(nb::module_& m) {
  nb::class_<FieldInfo>(m, "FieldInfo", "One field or parameter of a batch.")
      .def_ro("name", &FieldInfo::name)
      .def_ro("kind", &FieldInfo::kind, "'state', 'input', 'param' or 'output'")
      .def_ro("producer", &FieldInfo::producer, "stage that writes it, 'user' or 'model'")
      .def_ro("meaning", &FieldInfo::meaning)
      .def_ro("rows", &FieldInfo::rows, "rows and columns of one environment")
      .def_ro("columns", &FieldInfo::columns)
      .def_ro("wide", &FieldInfo::wide, "float64 in every precision")
      .def("__repr__", [](const FieldInfo& f) {
        return "<FieldInfo " + f.kind + " " + f.name + " (" + std::to_string(f.rows) + ", " +
               std::to_string(f.columns) + ")>";
      });
}

void bind_counts(nb::module_& m) {
  using C = SolverCounts;
  nb::class_<C> c(m, "SolverCounts", "Sums over the steps of all environments.");
  c.def_ro("env_steps", &C::env_steps, "steps of environments")
      .def_ro("iterations", &C::iterations, "Newton iterations")
      .def_ro("linesearch_evaluations", &C::linesearch_evaluations,
              "evaluations of the line search beyond alpha = 1")
      .def_ro("contacts", &C::contacts, "contact points in the problems")
      .def_ro("not_converged", &C::not_converged, "steps with the bit of Status")
      .def_ro("stalled", &C::stalled, "steps with the bit of Status")
      .def_ro("inaccurate", &C::inaccurate, "steps with the bit of Status")
      .def_ro("late_contact", &C::late_contact, "steps with the bit of Status")
      .def_ro("frozen", &C::frozen, "steps of frozen environments")
      .def_ro(
          "solved_again", &C::solved_again,
          "steps of several solves or renewed bounds of friction, by Options.friction_iterations")
      .def_ro("pack_steps", &C::pack_steps, "steps of packs")
      .def_ro("pack_max_iterations", &C::pack_max_iterations,
              "sum over pack steps of the iterations of the slowest lane");
  def_array(c, "iteration_histogram", &C::iteration_histogram,
            "(max_iterations + 1,) steps that took so many iterations");
  c.def("__repr__", [](const C& k) {
    return "<SolverCounts env_steps=" + std::to_string(k.env_steps) +
           " iterations=" + std::to_string(k.iterations) +
           " contacts=" + std::to_string(k.contacts) +
           " not_converged=" + std::to_string(k.not_converged) +
           " frozen=" + std::to_string(k.frozen) + ">";
  });
}

}  // namespace

void bind_batch_numbers(nb::module_& m) {
  bind_memory(m);
  bind_field_info(m);
  bind_counts(m);
}

}  // namespace stiction::python
