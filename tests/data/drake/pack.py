"""Packs one-step solutions of Drake (one JSON per scene) into one compressed file per MJCF model.

    python3 pack.py SOURCE

SOURCE holds <scene>.json and the MJCF files that they name. Writes <model>.json.xz and <model>.xml
beside this script. Scenes with equality constraints are left out: the engine has no such rows.
"""

import argparse
import collections
import json
import lzma
import pathlib
import shutil

SCENE_KEYS = ("name", "kind", "contact_model", "dt", "gravity", "stiction_tolerance", "sigma",
              "near_rigid_beta", "materials", "pair_parameters", "steps")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    source = parser.parse_args().source
    target = pathlib.Path(__file__).parent

    scenes = collections.defaultdict(list)
    for path in sorted(source.glob("*.json")):
        scene = read(path)
        if scene.get("constraints"):
            print(f"left out, has constraints: {scene['name']}")
            continue
        scenes[scene["model"]].append({key: scene[key] for key in SCENE_KEYS})

    for model, group in sorted(scenes.items()):
        text = json.dumps(group, separators=(",", ":")).encode()
        packed = lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
        (target / model).with_suffix(".json.xz").write_bytes(packed)
        shutil.copyfile(source / model, target / model)
        steps = sum(len(scene["steps"]) for scene in group)
        print(f"{model:24} {len(group):3} scenes {steps:5} steps {len(packed):8} bytes")


if __name__ == "__main__":
    main()
