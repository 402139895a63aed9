#include "cpu/stages.h"
#include "physics/rays/height_scan.h"

STICTION_PHYSICS_BEGIN

void store_hits(const ModelView& m, const EnvView<Number>& e, const RayOptions& options, int frame,
                int n, const Wide<Number>* rays, Wide<Number>* hits) {
  cast_rays(TeamOfOne(), m, e, options, frame, n, rays, hits);
}

void store_heights(const ModelView& m, const EnvView<Number>& e, const HeightScan& scan, int body,
                   Wide<Number>* out) {
  height_scan(TeamOfOne(), m, e, scan, body, out);
}

STICTION_PHYSICS_END
