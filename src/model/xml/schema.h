// Every MJCF element and attribute we know of, and what becomes of those that nothing reads.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

// Throws on an element or attribute that isn't MJCF, with the nearest known name.
void check_schema(const Element& root);

// Lists what became of every element and attribute, in file order, into `report`.
void collect(Element& root, LoadReport& report);

// Nearest of `known` by edit distance, or "" when nothing is near.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

}  // namespace stiction::model
