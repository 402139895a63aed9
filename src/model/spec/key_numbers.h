// How large the keyframes of a model may be.
#pragma once

#include "model/xml/xml.h"

namespace stiction::model {

// Of the keyframes of a model, in all: throws where they are more than 5e7.
void check_key_numbers(const Element& key, std::size_t numbers);

}  // namespace stiction::model
