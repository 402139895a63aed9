#include "model/xml/bounds.h"

#include <cmath>

namespace stiction::model {

void require_within(const Element& e, std::string_view attribute, double value,
                    const Bound& bound) {
  if (std::abs(value) <= bound.most) return;
  const std::string unit = *bound.unit ? " " + std::string(bound.unit) : "";
  fail(e, attribute,
       shown(value) + " is beyond " + shown(bound.most) + unit + ", the largest " + bound.quantity +
           " that can be computed with; check its unit, or scale the model");
}

void require_within(const Element& e, std::string_view attribute, std::span<const double> values,
                    const Bound& bound) {
  for (const double v : values) require_within(e, attribute, v, bound);
}

void require_nonnegative(const Element& e, std::string_view attribute, double value,
                         const Bound& bound) {
  require_nonnegative(e, attribute, value);
  require_within(e, attribute, value, bound);
}

bool read_within(Element& e, std::string_view attribute, const Bound& bound, double& value) {
  const auto v = number(e, attribute);
  if (!v) return false;
  require_within(e, attribute, *v, bound);
  value = *v;
  return true;
}

bool read_nonnegative(Element& e, std::string_view attribute, const Bound& bound, double& value) {
  if (!read_within(e, attribute, bound, value)) return false;
  require_nonnegative(e, attribute, value);
  return true;
}

bool exactly(Element& e, std::string_view attribute, const Bound& bound, std::span<double> out) {
  if (!exactly(e, attribute, out)) return false;
  require_within(e, attribute, out, bound);
  return true;
}

bool exactly(Element& e, std::string_view attribute, const Bound& bound, Vec3& out) {
  return exactly(e, attribute, bound, std::span<double>(out.data(), 3));
}

}  // namespace stiction::model
