// Heights of the ground on a grid around a body, as observed by locomotion policies on rough ground.
//
// reads   xpos, xquat; placements and sizes of the static geoms
// writes  the array that the caller passes
//
// The positions of the samples are defined by stiction::HeightScan (stiction/types.h).
#pragma once

#include "physics/rays/rays.h"

STICTION_PHYSICS_BEGIN

// Heading of the x axis of the body: (cos ψ, sin ψ); if that axis is vertical, the x axis of the world.
template <class W>
struct Heading {
  W cos, sin;
};
template <class W>
STICTION_FN Heading<W> heading_of(const Vec3<W>& x) {
  const W length = vsqrt(x.x * x.x + x.y * x.y);
  const Mask<W> has = length > W(0.0);
  const W inverse = W(1.0) / divisor<W>(has, length);
  return {select(has, inverse * x.x, W(1.0)), select(has, inverse * x.y, W(0.0))};
}

// Returns the height of the ground of geom g, no height field, relative to the points p above it, so a negative number;
// `down` is the ray downwards from p, both in the geom's frame. A plane is unbounded below and above. −∞: no ground.
template <class W>
STICTION_FN W ground_over(const ModelView& m, int g, const GeomShape<W>& shape, const Vec3<W>& p,
                          const Vec3<W>& down) {
  const W none = -far<W>();
  const auto type = static_cast<GeomType>(m.geom_type[g]);
  if (type == GeomType::plane) {
    const Mask<W> below = down.z < W(0.0);
    return select(below, p.z / divisor<W>(below, down.z), none);
  }
  Vec3<W> normal;
  const W x = type == GeomType::mesh ? ray_in_lanes(m, g, shape, p, down, normal)
                                     : first_end(stretch_in(type, shape.size, p, down));
  return select(x >= W(0.0), -x, none);
}

// Returns the offset of sample k from the centre of the grid.
template <class W>
STICTION_FN Vec3<W> grid_place(const HeightScan& scan, int k, const Vec3<W>& along_x,
                               const Vec3<W>& along_y) {
  return W(k / scan.ny - 0.5 * (scan.nx - 1)) * along_x +
         W(k % scan.ny - 0.5 * (scan.ny - 1)) * along_y;
}

// Scans a height field: where the field's z is up by a look-up in the cell below each sample, else by a ray. `height`:
// that of the field above the body.
template <class Team, class W, class Out>
STICTION_FN void scan_field(const Team& team, const ModelView& m, int g, const HeightScan& scan,
                            const W& height, const Vec3<W>& from, const Vec3<W>& along_x,
                            const Vec3<W>& along_y, const Vec3<W>& down, Out* out) {
  const int id = m.geom_dataid[g];
  const Hfield h = hfield_of({&m, id});
  const W zero(0.0);
  const Mask<W> upright = down.x == zero && down.y == zero && down.z < zero;
  // in cells: columns and rows
  const auto in_cells = [&](const Vec3<W>& v) -> Vec3<W> {
    return {W(1 / h.dx) * v.x, W(1 / h.dy) * v.y, zero};
  };
  const Vec3<W> middle = in_cells({from.x + W(h.half_x), from.y + W(h.half_y), zero});
  const Vec3<W> along_u = in_cells(along_x), along_v = in_cells(along_y);
  team.for_each(scan.count(), [&](int k) {
    const Vec3<W> place = middle + grid_place(scan, k, along_u, along_v);
    W z = height;
    per_lane<W>([&](int lane) {
      if (get_lane(upright, lane)) {
        const double elevation = h.elevation(get_lane(place.x, lane), get_lane(place.y, lane));
        set_lane(z, lane, get_lane(height, lane) + elevation);
        return;
      }
      const Vec3<W> p = from + grid_place(scan, k, along_x, along_y);
      Vec3<double> normal;
      const double x = ray_hfield(h, m.hfield_bottom[id], m.hfield_top[id], get_lane(p, lane),
                                  get_lane(down, lane), normal);
      set_lane(z, lane, x < 0 ? -far<double>() : scan.above - x);
    });
    out[k] = vmax(out[k], narrow<Out>(z));
  });
}

// Writes out, (nx ny) heights relative to the body's origin, negative below it, m; −∞ where there is no ground. Out: S,
// or the float of observations.
template <class Team, class S, class Out>
STICTION_FN void height_scan(const Team& team, const ModelView& m, const EnvView<S>& e,
                             const HeightScan& scan, int body, Out* out) {
  using W = Wide<S>;
  const Vec3<W> base = load3(e.xpos, body);
  const Heading<W> heading = heading_of(matrix(load4(e.xquat, body)).x);
  const double half_x = 0.5 * (scan.nx - 1) * scan.step, half_y = 0.5 * (scan.ny - 1) * scan.step;
  // greatest distance of a sample from the centre
  const double reach = vsqrt(half_x * half_x + half_y * half_y);
  const Vec3<W> middle{base.x + W(scan.x) * heading.cos - W(scan.y) * heading.sin,
                       base.y + W(scan.x) * heading.sin + W(scan.y) * heading.cos,
                       base.z + W(scan.above)};
  team.for_each(scan.count(), [&](int k) { out[k] = narrow<Out>(-far<W>()); });
  const RayOptions seen{scan.geomgroup, true, -1};
  for (int g = 0; g < m.ngeom; ++g) {
    if ((m.geom_raymask[g] & kRayStatic) == 0 || !is_met(m, seen, g)) continue;
    const PlacedFrame<W> f = frame_of_geom(m, e, g);
    const auto type = static_cast<GeomType>(m.geom_type[g]);
    if (type != GeomType::plane && type != GeomType::hfield) {
      const W room(reach + static_cast<double>(m.geom_rbound[g]));
      const W x = f.pos.x - middle.x, y = f.pos.y - middle.y;
      if (!any_lane(x * x + y * y <= room * room)) continue;
    }
    const GeomShape<W> shape = geom_shape(e, g);
    const Vec3<W> down = transposed(f.axes, {W(0.0), W(0.0), W(-1.0)});
    const Vec3<W> from = transposed(f.axes, middle - f.pos);
    // Sample (i, j) in the frame of the geom: from + i along_x + j along_y
    const W zero(0.0), step(scan.step);
    const Vec3<W> along_x = step * transposed(f.axes, Vec3<W>{heading.cos, heading.sin, zero});
    const Vec3<W> along_y = step * transposed(f.axes, Vec3<W>{-heading.sin, heading.cos, zero});
    if (type == GeomType::hfield) {
      scan_field(team, m, g, scan, f.pos.z - base.z, from, along_x, along_y, down, out);
      continue;
    }
    team.for_each(scan.count(), [&](int k) {
      const W z = ground_over(m, g, shape, from + grid_place(scan, k, along_x, along_y), down);
      out[k] = vmax(out[k], narrow<Out>(z + W(scan.above)));
    });
  }
}

STICTION_PHYSICS_END
