#include "reference/sensor/sensor_frames.h"

#include <cmath>
#include <numbers>

namespace stiction::reference {

Frame frame_of(const Model& m, const Kinematics& kin, ObjectType type, int id) {
  switch (type) {
    case ObjectType::body:
      return {kin.xipos[at(id)], kin.xquat[at(id)] * row4(m.body_iquat, id), id};
    case ObjectType::xbody: return {kin.xpos[at(id)], kin.xquat[at(id)], id};
    case ObjectType::geom: {
      const int b = m.geom_bodyid[at(id)];
      return {kin.geom_xpos[at(id)], kin.xquat[at(b)] * row4(m.geom_quat, id), b};
    }
    case ObjectType::site: {
      const int b = m.site_bodyid[at(id)];
      return {kin.site_xpos[at(id)], kin.xquat[at(b)] * row4(m.site_quat, id), b};
    }
    case ObjectType::camera: {
      const int b = m.cam_bodyid[at(id)];
      const Quat& q = kin.xquat[at(b)];
      return {kin.xpos[at(b)] + q * row3(m.cam_pos, id), q * row4(m.cam_quat, id), b};
    }
    default: return {};
  }
}

Vec2 projection(const Model& m, const Kinematics& kin, int site, int camera) {
  const Frame eye = frame_of(m, kin, ObjectType::camera, camera);
  const Vec3 p = eye.quat.conjugate() * (frame_of(m, kin, ObjectType::site, site).pos - eye.pos);
  const double tiny = 1e-15;
  const double z = p.z() < 0 ? std::min(p.z(), -tiny) : std::max(p.z(), tiny);
  const std::size_t c = at(camera);
  const double width = m.cam_resolution[2 * c], height = m.cam_resolution[2 * c + 1];
  Vec2 focal = Vec2::Constant(height / (2 * std::tan(m.cam_fovy[c] / 2 * std::numbers::pi / 180)));
  if (const Vec2 chip(m.cam_sensorsize[2 * c], m.cam_sensorsize[2 * c + 1]); chip.minCoeff() > 0)
    focal = Vec2(width, height)
                .cwiseQuotient(chip)
                .cwiseProduct(Vec2(m.cam_intrinsic[4 * c], m.cam_intrinsic[4 * c + 1]));
  return {width / 2 - focal.x() * p.x() / z, height / 2 + focal.y() * p.y() / z};
}

}  // namespace stiction::reference
