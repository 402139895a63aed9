#include "reference/checked_inputs.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::reference {

namespace {

void require_size(std::span<const double> a, int n, const char* name) {
  if (a.size() == at(n)) return;
  std::ostringstream message;
  message << name << " has " << a.size() << " numbers, the model needs " << n;
  throw ArgumentError(message.str());
}

void require_finite(std::span<const double> a, const char* name) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::isfinite(a[i])) {
      std::ostringstream message;
      message << name << "[" << i << "] = " << a[i] << ": must be finite";
      throw ArgumentError(message.str());
    }
}

// The four numbers from `adr` on are a rotation: they need a direction, not unit length.
void require_quaternion(std::span<const double> a, std::size_t adr, const char* name,
                        const std::string& owner) {
  const double norm = row4(a.subspan(adr), 0).norm();
  if (norm > 1e-10) return;
  std::ostringstream message;
  message << name << "[" << adr << ":" << adr + 4 << "] is a quaternion of length " << norm << " ("
          << owner << "): must not be zero";
  throw ArgumentError(message.str());
}

void require_quaternions(const Model& m, std::span<const double> qpos) {
  for (int j = 0; j < m.njnt; ++j) {
    const JointType type = m.jnt_type[at(j)];
    if (type != JointType::free && type != JointType::ball) continue;
    const auto adr = at(m.jnt_qposadr[at(j)]) + (type == JointType::free ? 3u : 0u);
    require_quaternion(qpos, adr, "qpos", "joint \"" + visible(m.jnt_names[at(j)]) + "\"");
  }
}

// Returns the span, which must be empty or have n finite numbers.
std::span<const double> finite(std::span<const double> given, int n, const char* name) {
  if (!given.empty()) require_size(given, n, name);
  require_finite(given, name);
  return given;
}

}  // namespace

CheckedInputs::CheckedInputs(const Model& m, std::span<const double> qpos,
                             std::span<const double> qvel, const Inputs& in) {
  require_size(qpos, m.nq, "qpos");
  require_size(qvel, m.nv, "qvel");
  require_finite(qpos, "qpos");
  require_finite(qvel, "qvel");
  require_quaternions(m, qpos);
  step.qpos = qpos;
  step.qvel = qvel;
  step.ctrl = cleaned(in.ctrl, m.nu, "ctrl", ctrl_);
  step.qfrc_applied = cleaned(in.qfrc_applied, m.nv, "qfrc_applied", qfrc_);
  step.xfrc_applied = cleaned(in.xfrc_applied, 6 * m.nbody, "xfrc_applied", xfrc_);
  step.time = in.time;
  step.anchor = or_zero(in.anchor, 3 * m.nanchor, "anchor", anchor_);
  step.friction_anchor =
      or_zero(in.friction_anchor, m.nv + m.ntendon, "friction_anchor", friction_anchor_);
  step.rebound = or_zero(in.rebound, m.nrebound, "rebound", rebound_);
  step.act = finite(in.act, m.na, "act");
  step.mocap_pos = finite(in.mocap_pos, 3 * m.nmocap, "mocap_pos");
  step.mocap_quat = finite(in.mocap_quat, 4 * m.nmocap, "mocap_quat");
  step.mocap_vel = finite(in.mocap_vel, 6 * m.nmocap, "mocap_vel");
  step.eq_active = cleaned(in.eq_active, m.neq, "eq_active", active_);
  if (in.eq_active.empty()) std::copy(m.eq_active0.begin(), m.eq_active0.end(), active_.begin());
  for (std::size_t i = 0; i < step.mocap_quat.size(); i += 4)
    require_quaternion(step.mocap_quat, i, "mocap_quat", "mocap body");
}

// Returns a copy of full size in which entries that are not finite are replaced by zero.
std::span<const double> CheckedInputs::cleaned(std::span<const double> given, int n,
                                               const char* name, std::vector<double>& own) {
  if (!given.empty()) require_size(given, n, name);
  own.assign(at(n), 0.0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (std::isfinite(given[i]))
      own[i] = given[i];
    else
      status |= Status::bad_control;
  }
  return own;
}

std::span<const double> CheckedInputs::or_zero(std::span<const double> given, int n,
                                               const char* name, std::vector<double>& own) {
  if (!given.empty()) return finite(given, n, name);
  own.assign(at(n), 0.0);
  return own;
}

}  // namespace stiction::reference
