// Contact points of many environments: a sequence of Contact, and arrays over the same memory.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "batch.h"

namespace stiction::python {
namespace {

struct Contacts {
  std::vector<Contact> points;
};

// Every number of a point is at a whole number of doubles from that of the next.
static_assert(sizeof(Contact) % sizeof(double) == 0);

template <class T>
nb::object column(nb::handle_t<Contacts> self, T* first, std::size_t columns) {
  static constinit T nothing{};
  const auto& points = nb::cast<Contacts&>(self).points;
  const std::size_t shape[] = {points.size(), columns};
  const std::int64_t strides[] = {sizeof(Contact) / sizeof(T), 1};
  return nb::ndarray<nb::numpy, const T>(points.empty() ? &nothing : first, columns > 0 ? 2 : 1,
                                         shape, self, strides)
      .cast();
}

template <class T>
void def_column(nb::class_<Contacts>& c, const char* name, T Contact::*field, const char* doc) {
  const std::string sig = "def " + std::string(name) + "(self) -> numpy.typing.NDArray[numpy." +
                          (std::is_same_v<T, int> ? "int32" : "float64") + "]";
  c.def_prop_ro(
      name,
      [field](nb::handle_t<Contacts> self) {
        auto& points = nb::cast<Contacts&>(self).points;
        return column(self, points.empty() ? nullptr : &(points[0].*field), 0);
      },
      nb::sig(sig.c_str()), doc);
}
void def_column(nb::class_<Contacts>& c, const char* name, std::array<double, 3> Contact::*field,
                const char* doc) {
  const std::string sig =
      "def " + std::string(name) + "(self) -> numpy.typing.NDArray[numpy.float64]";
  c.def_prop_ro(
      name,
      [field](nb::handle_t<Contacts> self) {
        auto& points = nb::cast<Contacts&>(self).points;
        return column(self, points.empty() ? nullptr : (points[0].*field).data(), 3);
      },
      nb::sig(sig.c_str()), doc);
}

}  // namespace

void bind_contacts(nb::module_& m) {
  nb::class_<Contacts> c(
      m, "Contacts",
      "Contact points of many environments, ordered by environment and slot: a sequence of "
      "Contact,\n"
      "and arrays with a row for each point, read-only. World axes; the normal points from geom1\n"
      "into geom2. Those of environment i: contacts.force[contacts.env == i].");
  c.def("__len__", [](const Contacts& s) { return s.points.size(); });
  c.def(
      "__getitem__",
      [](Contacts& s, nb::ssize_t i) -> Contact& {
        const auto n = static_cast<nb::ssize_t>(s.points.size());
        if (i < 0) i += n;
        if (i < 0 || i >= n) throw nb::index_error("no such contact point");
        return s.points[static_cast<std::size_t>(i)];
      },
      nb::arg("index"), nb::rv_policy::reference_internal);
  c.def("__repr__", [](const Contacts& s) {
    return "<stiction.Contacts of " + std::to_string(s.points.size()) + " points>";
  });
  def_column(c, "env", &Contact::env, "(n,) environment");
  def_column(c, "slot", &Contact::slot, "(n,) lasting name of the point, in [0, nslot)");
  def_column(c, "pair", &Contact::pair, "(n,) index into Model.pair_*");
  def_column(c, "geom1", &Contact::geom1, "(n,)");
  def_column(c, "geom2", &Contact::geom2, "(n,)");
  def_column(c, "body1", &Contact::body1, "(n,) body of geom1");
  def_column(c, "body2", &Contact::body2, "(n,) body of geom2");
  def_column(c, "gap", &Contact::gap, "(n,) distance minus margin, m; < 0: overlap");
  def_column(c, "pos", &Contact::pos, "(n, 3) contact point, m");
  def_column(c, "normal", &Contact::normal, "(n, 3) unit, from geom1 into geom2");
  def_column(c, "force", &Contact::force, "(n, 3) on body2, N; body1 gets the opposite");
  def_column(c, "impulse", &Contact::impulse, "(n, 3) on body2, N s: timestep * force");
  def_column(c, "torque", &Contact::torque,
             "(n, 3) on body2 beside the force at pos, of torsional and rolling friction, N m");
  def_column(c, "couple", &Contact::couple, "(n, 3) on body2, N m s: timestep * torque");
  def_column(c, "slip", &Contact::slip,
             "(n, 3) tangential velocity of geom2 against geom1 at the end of the step, m/s");
  def_column(c, "separation_velocity", &Contact::separation_velocity,
             "(n,) normal velocity at the end of the step, m/s; > 0: separating");
  def_column(c, "friction", &Contact::friction, "(n,) coefficient");
  def_column(c, "stiffness", &Contact::stiffness, "(n,) k of the pair, N/m");
  def_column(c, "dissipation", &Contact::dissipation, "(n,) Hunt-Crossley d of the pair, s/m");
}

nb::object contacts_of(const Batch& batch, const MaybeArray& given) {
  const std::vector<int> ids = ids_or_all(batch, given);
  Contacts contacts;
  {
    const nb::gil_scoped_release release;
    contacts.points = batch.contacts(ids);
  }
  return nb::cast(std::move(contacts));
}

}  // namespace stiction::python
