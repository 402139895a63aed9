// What the reader of model files did with each element and attribute that has a meaning in MuJoCo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

enum class Use : std::uint8_t {
  used,     // computed as MuJoCo defines it
  mapped,   // replaced by an equivalent of this engine; the note says which
  ignored,  // has no effect here; `physics` says whether MuJoCo would compute an effect
  refused,  // the model cannot be simulated faithfully: load_model throws
};

struct ReportEntry {
  Use use = Use::used;
  bool physics = false;  // ignored: would have changed the motion
  std::string file;
  int line = 0;           // 0: the model as a whole
  std::string element;    // "joint"
  std::string attribute;  // "stiffness"; empty: the element itself
  std::string value;      // as written
  std::string note;       // why, and what to do
};

struct LoadReport {
  std::vector<ReportEntry> entries;  // in file order
  struct MissingCollider {
    int geom1, geom2;
    std::string name1, name2;  // 'name' in quotes, or the index and where the geom is
    std::string type1, type2;
  };
  std::vector<MissingCollider>
      pairs_without_collider;  // pairs that pass the filters, but whose contacts are not computed

  int count(Use use) const;
  bool complete() const;                      // nothing refused, no physics ignored
  std::string table(bool all = false) const;  // readable; all: includes what was used as it is
};

}  // namespace stiction
