// Limits the size of the keyframes of a model.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

// Throws if the keyframes of a model have more than 5e7 numbers in total.
void check_key_numbers(const Element& key, std::size_t numbers);

}  // namespace stiction::model
