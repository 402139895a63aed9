// Every known MJCF element and attribute, and the verdict on those that nothing reads.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

// Throws on an element or attribute that is not MJCF, with the nearest known name.
void check_schema(const Element& root);

// Lists the verdict on every element and attribute, in file order, in `report`.
void collect(Element& root, LoadReport& report);

// Returns the nearest of `known` by edit distance, or "" if none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

}  // namespace stiction::model
