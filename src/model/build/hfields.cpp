#include "model/build/hfields.h"

#include "model/xml/bounds.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

// Elevations given in the model file, the row with the largest y first; or all zero, to be replaced.
Elevations written(const HfieldSpec& h, const std::vector<double>& elevation) {
  Elevations e{h.nrow, h.ncol, elevation};
  if (elevation.empty() && h.nrow >= 2 && h.ncol >= 2 && h.nrow <= kMaxHfieldNodes / h.ncol)
    e.data.resize(static_cast<std::size_t>(h.nrow) * static_cast<std::size_t>(h.ncol));
  check_elevations(e);
  const auto columns = static_cast<std::ptrdiff_t>(h.ncol);
  for (std::ptrdiff_t low = 0, high = h.nrow - 1; low < high; ++low, --high)
    std::swap_ranges(e.data.begin() + low * columns, e.data.begin() + (low + 1) * columns,
                     e.data.begin() + high * columns);
  return e;
}

void check_total(std::size_t nodes) {
  if (nodes > static_cast<std::size_t>(kMaxHfieldNodes))
    throw ModelError("the model has " + std::to_string(nodes) +
                     " elevations with these; the limit is " + std::to_string(kMaxHfieldNodes));
}

}  // namespace

void load_hfields(Spec& spec, const AssetFiles& files) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < spec.hfields.size(); ++i) {
    const HfieldSpec& h = spec.hfields[i];
    HfieldSource& s = spec.hfield_sources[i];
    if (!h.file.empty() && !files.there(*s.element, h.file)) {
      mark(*s.element, "file", Use::ignored, false,
           "file not found: " + files.looked(*s.element, h.file) +
               "; MuJoCo does not load the model");
      continue;
    }
    const char* attribute = h.file.empty() ? s.elevation.empty() ? "nrow" : "elevation" : "file";
    try {
      s.read = h.file.empty() ? written(h, s.elevation)
                              : read_elevations(files.read(*s.element, h.file));
      total += s.read.data.size();
      check_total(total);
    } catch (const ModelError& problem) {
      fail(*s.element, attribute, problem.what());
    }
    normalize(s.read);
  }
}

void add_hfields(const Spec& spec, Model& m) {
  m.hfields = spec.hfields;
  m.nhfield = static_cast<int>(spec.hfields.size());
  for (std::size_t i = 0; i < spec.hfields.size(); ++i) {
    const Elevations& e = spec.hfield_sources[i].read;
    m.hfield_size.insert(m.hfield_size.end(), spec.hfields[i].size.begin(),
                         spec.hfields[i].size.end());
    m.hfield_nrow.push_back(e.nrow), m.hfield_ncol.push_back(e.ncol);
    m.hfield_adr.push_back(static_cast<int>(m.hfield_data.size()));
    m.hfield_data.insert(m.hfield_data.end(), e.data.begin(), e.data.end());
  }
}

}  // namespace stiction::model

namespace stiction {
namespace {

std::size_t nodes(const Model& m, std::size_t field) {
  return static_cast<std::size_t>(m.hfield_nrow[field]) *
         static_cast<std::size_t>(m.hfield_ncol[field]);
}

}  // namespace

ModelPtr with_hfield_data(const Model& model, const std::string& name, int nrow, int ncol,
                          std::vector<double> data) {
  const auto h = static_cast<std::size_t>(model.hfield(name));
  const model::Elevations given{nrow, ncol, std::move(data)};
  try {
    if (model.hfield_nrow[h] == 0)
      throw ModelError(
          "its file was not there when the model was read, so nothing touches it; write nrow and "
          "ncol in its place");
    model::check_elevations(given);
    model::check_total(model.hfield_data.size() - nodes(model, h) + given.data.size());
    const double scale = model.hfield_size[4 * h + 2];
    for (const double x : given.data)
      if (!(std::abs(x) * scale <= model::kLengthBound.most))
        throw ModelError("an elevation of " + model::shown(x) + " times " + model::shown(scale) +
                         " m is too large");
  } catch (const ModelError& problem) {
    throw ArgumentError("height field " + name + ": " + problem.what());
  }
  auto copy = std::make_shared<Model>(model);
  const std::ptrdiff_t adr = copy->hfield_adr[h];
  const auto had = static_cast<std::ptrdiff_t>(nodes(model, h));
  Reals& all = copy->hfield_data;
  const auto at = all.erase(all.begin() + adr, all.begin() + adr + had);
  all.insert(at, given.data.begin(), given.data.end());
  copy->hfield_nrow[h] = nrow, copy->hfield_ncol[h] = ncol;
  for (std::size_t i = h + 1; i < static_cast<std::size_t>(copy->nhfield); ++i)
    copy->hfield_adr[i] += static_cast<int>(static_cast<std::ptrdiff_t>(given.data.size()) - had);
  return copy;
}

}  // namespace stiction
