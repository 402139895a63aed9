// Loading beyond model.h: files that are given as bytes, and what a load left out in a few words.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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

// How a URDF becomes a model; without meaning for MJCF.
struct UrdfOptions {
  bool floor = false;      // a plane at z = 0
  bool free_root = false;  // the root link moves freely; otherwise it stands in the world
  // Joint -> "position", "velocity", "effort" or "none"; the joint "" stands for all that are not
  // named and mimic none. Forces are bounded by the joint's effort, controls by its limits.
  std::map<std::string, std::string> actuators;
  double kp = 100;  // of position servos, N m/rad or N/m; critically damped at qpos0
  double kv = 10;   // of velocity servos, N m s/rad or N s/m
  // Folders of meshes and of ROS packages, beside that of the file. Nothing else is read but ../x.
  std::vector<std::string> search_path;

  bool operator==(const UrdfOptions&) const = default;
};

// All that a model is loaded from: with `files` it can be loaded again where there is no disk like this
// one. To be filled but for them.
struct ModelSource {
  std::string path;  // of a file; empty: xml is the text, and `directory` as above
  std::string xml, directory;
  Assets assets;
  LoadOptions options;
  UrdfOptions urdf;
  // What was found on the disk, by path: of files that the reader does not open, but looks for, an
  // empty text.
  Assets files;
};
// Loads as the functions above do, and fills source.files.
ModelPtr load_model(ModelSource& source, LoadReport* report = nullptr);
// The same model from a source that was filled, without a look at the disk.
ModelPtr load_model_again(const ModelSource& source, LoadReport* report = nullptr);

// What became of a model after it was loaded: of with_timestep, with_contact_material (by the geom's name; "": all geoms),
// with_mesh (geom -> mesh) and with_hfield_data.
struct ModelEdits {
  std::optional<double> timestep;
  std::map<std::string, ContactMaterial> materials;
  std::map<std::string, std::string> meshes;
  struct Elevations {
    int nrow = 0, ncol = 0;
    std::vector<double> data;
  };
  std::map<std::string, Elevations> hfields;
};
struct SavedModel {
  std::string xml;
  Assets files;  // that it names, by bare names
};
// One MJCF text without includes and the files that it names; read back they are the same model, and MuJoCo reads them.
// A URDF becomes the MJCF that means the same. Files that the reader did not open (textures, meshes that only show) are taken
// from the disk. placeholders: a tiny mesh, a flat field or a grey texture stands for a file that is not there, for a model that
// is to be drawn; else ModelError names it. ArgumentError where MJCF cannot say an edit.
SavedModel save_model(const ModelSource& source, const ModelEdits& edits = {},
                      bool placeholders = false);

// What is not computed, in at most four lines: pairs without a collider, then elements, then
// attributes, the most frequent first. Empty if the report is complete.
std::string summary(const LoadReport& report);

}  // namespace stiction
