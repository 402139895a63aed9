// Loading beyond model.h: files given as bytes, and a short summary of what a load left out.
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

// As load_model and load_model_from_string (model.h), but included files and assets are looked up in `assets`
// before the disk: by path, as written or below the directory, else by the bare name if
// only one path has it.
ModelPtr load_model(const std::string& path, const Assets& assets, LoadReport* report = nullptr,
                    const LoadOptions& options = {});
ModelPtr load_model_from_string(const std::string& xml, const Assets& assets,
                                LoadReport* report = nullptr, const LoadOptions& options = {},
                                const std::string& directory = "");

// How a URDF becomes a model; ignored for MJCF.
struct UrdfOptions {
  bool floor = false;      // a plane at z = 0
  bool free_root = false;  // the root link has a free joint; otherwise it is fixed to the world
  // Joint -> "position", "velocity", "effort" or "none"; the joint "" stands for all joints that are not
  // named and do not mimic another. Forces are bounded by the joint's effort, controls by its limits.
  std::map<std::string, std::string> actuators;
  double kp = 100;  // of position servos, N m/rad or N/m; critically damped at qpos0
  double kv = 10;   // of velocity servos, N m s/rad or N s/m
  // Folders of meshes and of ROS packages, besides that of the file. Nothing else is read except ../x.
  std::vector<std::string> search_path;

  bool operator==(const UrdfOptions&) const = default;
};

// Everything that a model is loaded from: with `files` it can be loaded again on a machine without these
// files on its disk. The caller fills all members but `files`.
struct ModelSource {
  std::string path;  // path of a file; empty: xml is the text, with `directory` as above
  std::string xml, directory;
  Assets assets;
  LoadOptions options;
  UrdfOptions urdf;
  // What was found on the disk, by path. Files that the reader looks for but does not open have an
  // empty text.
  Assets files;
};
// Loads as the functions above do, and fills source.files.
ModelPtr load_model(ModelSource& source, LoadReport* report = nullptr);
// Loads the same model from a filled source, without access to the disk.
ModelPtr load_model_again(const ModelSource& source, LoadReport* report = nullptr);

// Edits of a model after loading: by with_timestep, with_contact_material (by the geom's name; "": all geoms),
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
  Assets files;  // files that the text names, by bare names
};
// Saves one MJCF text without includes, and the files that it names; it loads as the same model, here and in MuJoCo.
// A URDF becomes the equivalent MJCF. Files that the reader did not open (textures, visual meshes) are taken from
// the disk. placeholders: a tiny mesh, a flat field or a grey texture replaces a missing file, for a model that is
// only to be drawn; else ModelError names it. ArgumentError if MJCF cannot express an edit.
SavedModel save_model(const ModelSource& source, const ModelEdits& edits = {},
                      bool placeholders = false);

// Summarizes what is not computed, in at most four lines: pairs without a collider, then elements, then
// attributes, the most frequent first. Empty if the report is complete.
std::string summary(const LoadReport& report);

}  // namespace stiction
