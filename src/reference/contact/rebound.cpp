#include "reference/contact/rebound.h"

#include <algorithm>
#include <cmath>

namespace stiction::reference::inline STICTION_REAL {
namespace {

double least_impact(const Model& m, double dt) {
  return kLeastImpact * dt * std::hypot(m.gravity[0], m.gravity[1], m.gravity[2]);
}

bool bounces_softly(const Options& o, const ContactPoint& p) {
  const double dt = *o.timestep;
  return o.contact_model != ContactModel::sap && dt * dt * p.stiffness * p.w < kSoftBounce;
}

}  // namespace

double dissipation_of(double e) {
  return (1 - e) / e * (1 + 1.39 * e - 1.24 * e * e + 0.35 * e * e * e);
}

NormalConstants rebound_law(const Model& m, const Options& o, const NormalConstants& usual,
                            const Real& v_n0, const ContactPoint& p) {
  const double dt = *o.timestep, e = p.restitution;
  if (!(e > 0)) return usual;

  Real v_a = p.rebound;
  if (p.rebound == 0 && -v_n0 > least_impact(m, dt)) v_a = -v_n0;
  if (!(v_a > 0)) return usual;

  if (bounces_softly(o, p)) {
    // the force at the gap of the start of the step, slightly less so that energy does not grow
    const Real s = (1 - sqrt(dt * dt * p.stiffness * p.w) / 8) * v_n0;
    return {usual.gap - dt * s, usual.k, dissipation_of(e) / v_a, 0};
  }
  const Real stiff = std::max<Real>(usual.k, kRigidBounce / (dt * dt * p.w));
  if (!(p.rebound > 0))
    return usual.gap >= 0 ? NormalConstants{usual.gap, stiff, usual.d, 0, true} : usual;

  const double time = reach(m, o, dt, p).horizon;
  const Real gap = std::max<Real>(usual.gap, 0), root = e * v_a - gap / time;
  Real usual_root = -usual.gap / time;
  if (usual.d > 0) usual_root = std::min<Real>(usual_root, 1 / usual.d);
  if (!(root > usual_root + usual.shift)) return usual;
  return {gap, stiff, usual.d, e * v_a, true};
}

double next_rebound(const Model& m, const Options& o, const ContactPoint& p, double v_n0,
                    double v_n, double impulse) {
  if (!(impulse > 0 && p.restitution > 0)) return 0;
  if (p.rebound == 0) return -v_n0 > least_impact(m, *o.timestep) ? -v_n0 : kPressed;
  const bool turns_back = v_n0 >= 0 && v_n < 0;
  return p.rebound > 0 && bounces_softly(o, p) && !turns_back ? p.rebound : kPressed;
}

}  // namespace stiction::reference::inline STICTION_REAL
