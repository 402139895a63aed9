// Loading beyond model.h: files that are given as bytes, and what a load left out in a few words.
#pragma once

#include <map>
#include <string>

#include "stiction/model.h"
#include "stiction/report.h"

namespace stiction {

// Name or path -> content.
using Assets = std::map<std::string, std::string>;

// load_model and load_model_from_string (model.h) that look for included and asset files in `assets`
// before they look at the disk: by path, as written or below the directory, else by the bare name if
// only one has it.
ModelPtr load_model(const std::string& path, const Assets& assets, LoadReport* report = nullptr,
                    const LoadOptions& options = {});
ModelPtr load_model_from_string(const std::string& xml, const Assets& assets,
                                LoadReport* report = nullptr, const LoadOptions& options = {},
                                const std::string& directory = "");

// What is not computed, in at most four lines: pairs without a collider, then elements, then
// attributes, the most frequent first. Empty if the report is complete.
std::string summary(const LoadReport& report);

}  // namespace stiction
