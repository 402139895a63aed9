// Height fields in the form that src/physics reads.
#include <algorithm>

#include "cpu/host_model.h"

namespace stiction::cpu {

void HostModel::hfields(const Model& m) {
  physics::ModelView& w = view_;
  w.hfield_nrow = keep(m.hfield_nrow);
  w.hfield_ncol = keep(m.hfield_ncol);
  w.hfield_adr = keep(m.hfield_adr);
  w.hfield_size = keep(m.hfield_size);
  w.hfield_data = keep(m.hfield_data);
  std::vector<double> top, bottom;
  for (std::size_t i = 0; i < m.hfield_adr.size(); ++i) {
    const auto first = m.hfield_data.begin() + m.hfield_adr[i];
    const auto end = first + static_cast<std::ptrdiff_t>(m.hfield_nrow[i]) * m.hfield_ncol[i];
    const auto extreme = [&](auto element) {
      return first == end ? 0.0 : m.hfield_size[4 * i + 2] * *element(first, end);
    };
    using Iterator = decltype(first);
    top.push_back(extreme(std::max_element<Iterator>));
    bottom.push_back(std::min(extreme(std::min_element<Iterator>), -m.hfield_size[4 * i + 3]));
  }
  w.hfield_top = keep(top);
  w.hfield_bottom = keep(bottom);
}

}  // namespace stiction::cpu
