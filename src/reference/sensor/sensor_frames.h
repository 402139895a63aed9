// Frames that sensors are attached to: poses of bodies, geoms, sites and cameras.
#pragma once

#include "reference/tree/kinematics.h"

namespace stiction::reference {

struct Frame {
  Vec3 pos = Vec3::Zero();
  Quat quat = Quat::Identity();
  int body = 0;
};

// ObjectType::none: the world.
Frame frame_of(const Model& m, const Kinematics& kin, ObjectType type, int id);

// Returns the pixel coordinates of a site in a camera, from the upper left corner; the camera looks along -z, y is up:
//   W/2 - f_x x/z,   H/2 + f_y y/z
Vec2 projection(const Model& m, const Kinematics& kin, int site, int camera);

}  // namespace stiction::reference
