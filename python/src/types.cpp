// Enumerations.
#include "stiction/types.h"

#include "module.h"

namespace stiction::python {

void bind_types(nb::module_& m) {
  nb::enum_<JointType>(m, "JointType", nb::is_arithmetic(),
                       "Values of Model.jnt_type. nq/nv: free 7/6, ball 4/3, slide 1/1, hinge 1/1.")
      .value("free", JointType::free)
      .value("ball", JointType::ball)
      .value("slide", JointType::slide)
      .value("hinge", JointType::hinge);

  nb::enum_<GeomType>(m, "GeomType", nb::is_arithmetic(), "Values of Model.geom_type.")
      .value("plane", GeomType::plane)
      .value("hfield", GeomType::hfield)
      .value("sphere", GeomType::sphere)
      .value("capsule", GeomType::capsule)
      .value("ellipsoid", GeomType::ellipsoid)
      .value("cylinder", GeomType::cylinder)
      .value("box", GeomType::box)
      .value("mesh", GeomType::mesh);

  nb::enum_<Transmission>(m, "Transmission", nb::is_arithmetic(),
                          "Values of Model.actuator_trntype.")
      .value("joint", Transmission::joint)
      .value("tendon", Transmission::tendon)
      .value("jointinparent", Transmission::jointinparent)
      .value("slidercrank", Transmission::slidercrank)
      .value("site", Transmission::site)
      .value("body", Transmission::body);

  nb::enum_<EqualityType>(m, "EqualityType", nb::is_arithmetic(),
                          "Equality constraints; the numbers are MuJoCo's.")
      .value("connect", EqualityType::connect)
      .value("weld", EqualityType::weld)
      .value("joint", EqualityType::joint)
      .value("tendon", EqualityType::tendon);
  nb::enum_<WrapType>(m, "WrapType", nb::is_arithmetic(),
                      "Values of Model.wrap_type: what a tendon runs over; MuJoCo's numbers.")
      .value("joint", WrapType::joint)
      .value("pulley", WrapType::pulley)
      .value("site", WrapType::site)
      .value("sphere", WrapType::sphere)
      .value("cylinder", WrapType::cylinder);

  nb::enum_<ObjectType>(m, "ObjectType", nb::is_arithmetic(),
                        "Values of Model.sensor_objtype and sensor_reftype; MuJoCo's numbers.")
      .value("none", ObjectType::none)
      .value("body", ObjectType::body)
      .value("xbody", ObjectType::xbody)
      .value("joint", ObjectType::joint)
      .value("geom", ObjectType::geom)
      .value("site", ObjectType::site)
      .value("camera", ObjectType::camera)
      .value("tendon", ObjectType::tendon)
      .value("actuator", ObjectType::actuator);

  nb::enum_<SensorType> sensors(m, "SensorType", nb::is_arithmetic(),
                                "Values of Model.sensor_type: the sensors that are evaluated; "
                                "MuJoCo's numbers.");
#define X(name, number, dim, of, bounds) sensors.value(#name, SensorType::name);
#include "stiction/sensors.def"
#undef X

  nb::enum_<Status>(m, "Status", nb::is_arithmetic(), nb::is_flag(),
                    "Bits of the status of a step. bad_state, cholesky_failed and velocity_limit "
                    "mean that the state was left as it was.")
      .value("ok", Status::ok)
      .value("bad_state", Status::bad_state,
             "qpos, qvel or the result is not finite: reset; shorten the timestep")
      .value("bad_control", Status::bad_control,
             "ctrl or applied forces not finite: replaced by zero; check the policy")
      .value("cholesky_failed", Status::cholesky_failed,
             "Hessian has no factor or overflows: check mass, armature, stiffness")
      .value("velocity_limit", Status::velocity_limit,
             "a velocity beyond 1e8: the simulation diverged; shorten the timestep")
      .value("not_converged", Status::not_converged,
             "iteration cap reached, best iterate kept: raise max_iterations")
      .value("stalled", Status::stalled,
             "round-off floor above solver_tolerance; harmless without inaccurate: relax it")
      .value("late_contact", Status::late_contact,
             "a point left out of the problem closed its gap: shorten the timestep")
      .value("contact_overflow", Status::contact_overflow,
             "more points of a shape touch a height field than the pair has slots: use finer "
             "shapes or a coarser field")
      .value("inaccurate", Status::inaccurate,
             "stalled with a residual above 0.01: shorten the timestep, lower stiffnesses and "
             "dissipations, or compute in float64");

  // Python's usual "<Status.stalled: 32>" instead of the bare text.
  const nb::module_ python = nb::module_::import_("enum");
  for (const char* name : {"JointType", "GeomType", "Transmission", "EqualityType", "WrapType",
                           "ObjectType", "SensorType"})
    m.attr(name).attr("__repr__") = python.attr("IntEnum").attr("__repr__");
  m.attr("Status").attr("__repr__") = python.attr("IntFlag").attr("__repr__");
}

}  // namespace stiction::python
