// Pixel coordinates of a site in a camera image, from the upper left corner; the camera looks along -z, y is up:
//   u = c_x - f_x x/z,   v = c_y + f_y y/z,   cam_lens: f_x, f_y, c_x, c_y
#pragma once

#include "physics/tree/frames.h"

STICTION_PHYSICS_BEGIN

template <class W>
struct Pixel {
  W u, v;
};
template <class S>
STICTION_FN Pixel<Wide<S>> projection(const ModelView& m, const EnvView<S>& e, int site,
                                      int camera) {
  using W = Wide<S>;
  const Frame<S> target = frame_of(m, e, static_cast<int>(ObjectType::site), site);
  const Frame<S> eye = frame_of(m, e, static_cast<int>(ObjectType::camera), camera);
  const Vec3<W> p = transposed(matrix(eye.quat), target.pos - eye.pos);
  // a site in the plane of the camera is far outside of the image, as in MuJoCo
  const W tiny = W(1e-15), z = select(p.z < W(0.0), vmin(p.z, -tiny), vmax(p.z, tiny));
  const double* const lens = m.cam_lens + 4 * camera;
  return {W(lens[2]) - W(lens[0]) * (p.x / z), W(lens[3]) + W(lens[1]) * (p.y / z)};
}

STICTION_PHYSICS_END
