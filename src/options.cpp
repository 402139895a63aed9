#include "stiction/options.h"

#include <cmath>
#include <sstream>

#include "stiction/error.h"

namespace stiction {
namespace {

void require(bool ok, const char* field, double value, const char* range) {
  if (ok) return;
  std::ostringstream message;
  message << "Options." << field << " = " << value << ": must be " << range;
  throw ArgumentError(message.str());
}

}  // namespace

void validate(const Options& o) {
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  if (o.timestep) require(positive(*o.timestep), "timestep", *o.timestep, "finite and > 0 (s)");
  require(positive(o.stiction_tolerance), "stiction_tolerance", o.stiction_tolerance,
          "finite and > 0 (m/s)");
  require(positive(o.regularization), "regularization", o.regularization, "finite and > 0");
  require(std::isfinite(o.near_rigid) && o.near_rigid >= 0, "near_rigid", o.near_rigid,
          "finite and >= 0");
  if (o.solver_tolerance)
    require(
        std::isfinite(*o.solver_tolerance) && *o.solver_tolerance >= 0 && *o.solver_tolerance < 1,
        "solver_tolerance", *o.solver_tolerance, "in [0, 1)");
  if (o.barrier)
    require(positive(*o.barrier), "barrier", *o.barrier,
            "finite and > 0 (J, N/m of 'ipc_barrier')");
  require(positive(o.barrier_distance), "barrier_distance", o.barrier_distance,
          "finite and > 0 (m)");
  require(o.max_iterations >= 0 && o.max_iterations <= 10000, "max_iterations", o.max_iterations,
          "in [0, 10000]");
  require(o.friction_iterations >= kFixedPointFriction && o.friction_iterations <= 100,
          "friction_iterations", o.friction_iterations,
          "in [1, 100], kAutoFriction or kFixedPointFriction");
  if (o.friction_tolerance)
    require(*o.friction_tolerance > 0 && *o.friction_tolerance < 1, "friction_tolerance",
            *o.friction_tolerance, "in (0, 1)");
}

void require_batch_options(const Options& o) {
  if (o.scheme != Scheme::implicit_euler)
    throw ArgumentError(
        "Options.scheme: only Reference computes other schemes than 'implicit_euler'");
  if (o.normal_law != NormalLaw::hunt_crossley)
    throw ArgumentError(
        "Options.normal_law: only Reference computes other laws than 'hunt_crossley'");
}

bool friction_follows(const Options& o) {
  return o.friction_iterations <= 0 && o.contact_model == ContactModel::lagged &&
         o.contact_pairs == ContactPairs::speculative;
}

void resolve(Options& o, double timestep, double solver_tolerance, double friction_tolerance) {
  if (!o.timestep) o.timestep = timestep;
  if (!o.solver_tolerance) o.solver_tolerance = solver_tolerance;
  if (!o.friction_tolerance)
    o.friction_tolerance =
        o.friction_iterations == kFixedPointFriction ? friction_tolerance : kFrictionShare;
  o.limits = limit_law(o);
  o.gyroscopic = gyroscopic_law(o);
  if (o.friction_iterations <= 0 && !friction_follows(o)) o.friction_iterations = 1;
}

Limits limit_law(const Options& o) {
  if (o.limits != Limits::automatic) return o.limits;
  return o.contact_pairs == ContactPairs::penetrating_deepest ? Limits::near_rigid : Limits::solref;
}

Gyroscopic gyroscopic_law(const Options& o) {
  if (o.gyroscopic != Gyroscopic::automatic) return o.gyroscopic;
  const bool papers =
      o.contact_pairs == ContactPairs::penetrating_deepest || o.scheme != Scheme::implicit_euler;
  return papers ? Gyroscopic::explicit_euler : Gyroscopic::midpoint;
}

}  // namespace stiction
