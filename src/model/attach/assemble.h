// <replicate> and <attach>: before anything is read, the tree gets the copies and other models that they stand for,
// with the names that MuJoCo gives them, and so do the sections that refer to it.
#pragma once

#include <memory>

#include "model/spec/specs.h"

namespace stiction::model {

// Keyframes of an attached model: its vectors, and where the numbers of joints and actuators are in them, by
// Element::place.
struct KeySource {
  std::vector<KeySpec> keys;
  std::vector<int> qposadr, dofadr, actadr;  // actadr -1: no activation
};
struct AttachedKeys {
  std::string prefix;
  std::shared_ptr<const KeySource> source;
};

inline constexpr int kMaxModels = 64;  // length of a chain of models that attach each other

struct Assembly {
  std::deque<Document> documents;  // of the attached models; the tree keeps pointers into them
  std::vector<std::string> directories;  // of scope 1, 2, ...: where assets are searched
  std::vector<AttachedKeys> keys;        // by Element::owner
  std::vector<ReportEntry> remarks;
};

// Throws ModelError if a model or its part is missing, attaches itself, or gets more elements than a model
// may have.
Assembly assemble(Element& root, const std::string& directory, const Assets& assets,
                  const Disk& disk);

// Runs after read_mjcf() of the assembled tree: adds the keyframes of the attached models, complete except for
// numbers that do not belong to them, which are NaN.
void add_attached_keys(const Assembly& assembly, Spec& spec);

// attached_keys.cpp: keyframes of a model that was read alone; numbers its joints and actuators.
std::shared_ptr<const KeySource> key_source(Spec& spec);

// attached_options.cpp: resolves options in which both models differ, as <compiler conflict> of `parent` says.
void merge_options(Element& parent, Element& child, const Element& attach,
                   std::vector<ReportEntry>& remarks);

}  // namespace stiction::model
