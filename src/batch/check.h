// Checks parameters in a file before they become those of the batch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "batch/impl.h"

namespace stiction {

// saved: the arrays of a file in its order; own: which parameters are among them. Throws Error, naming
// the source, on an unphysical number.
void check_saved_params(const Batch::Impl& impl, std::span<const std::byte> saved,
                        const std::vector<char>& own, const std::string& source);

}  // namespace stiction
