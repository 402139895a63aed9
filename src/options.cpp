#include "stiction/options.h"

#include <cmath>
#include <sstream>

#include "stiction/error.h"

namespace stiction {
namespace {

// The condition on a number, and its wording in the error message.
struct NumberRange {
  bool (*holds)(double);
  const char* words;
};
bool is_positive(double x) {
  return std::isfinite(x) && x > 0;
}
// As options.def names them.
namespace ranges {
constexpr NumberRange positive{is_positive, "finite and > 0"};
constexpr NumberRange positive_seconds{is_positive, "finite and > 0 (s)"};
constexpr NumberRange positive_metres{is_positive, "finite and > 0 (m)"};
constexpr NumberRange positive_speed{is_positive, "finite and > 0 (m/s)"};
constexpr NumberRange positive_barrier{is_positive, "finite and > 0 (J, N/m of 'ipc_barrier')"};
constexpr NumberRange not_negative{[](double x) { return std::isfinite(x) && x >= 0; },
                                   "finite and >= 0"};
constexpr NumberRange below_one{[](double x) { return x >= 0 && x < 1; }, "in [0, 1)"};
constexpr NumberRange share{[](double x) { return x > 0 && x < 1; }, "in (0, 1)"};
constexpr NumberRange iterations{[](double x) { return x >= 0 && x <= 10000; }, "in [0, 10000]"};
constexpr NumberRange solves{[](double x) { return x >= kFixedPointFriction && x <= 100; },
                             "in [1, 100], kAutoFriction or kFixedPointFriction"};
struct Choice {};
constexpr Choice choice{};
}  // namespace ranges

void check(const char* field, double value, const NumberRange& range) {
  if (range.holds(value)) return;
  std::ostringstream message;
  message << "Options." << field << " = " << value << ": must be " << range.words;
  throw ArgumentError(message.str());
}
void check(const char* field, const std::optional<double>& value, const NumberRange& range) {
  if (value) check(field, *value, range);
}
template <class E>
void check(const char*, E, ranges::Choice) {}

}  // namespace

void validate(const Options& o) {
#define OPTION(name, kind, range) check(#name, o.name, ranges::range);
#include "stiction/options.def"
#undef OPTION
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
