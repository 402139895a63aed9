"""Packs one-step solutions of Drake (one JSON per scene) into one compressed file per MJCF model.

    python3 pack.py SOURCE

SOURCE holds <scene>.json and the MJCF files that they name. Writes <model>.json.xz and <model>.xml
beside this script. Scenes with constraints of other types than CONSTRAINTS are left out.
"""

import argparse
import collections
import json
import lzma
import pathlib
import shutil

SCENE_KEYS = ("name", "kind", "contact_model", "dt", "gravity", "stiction_tolerance", "sigma",
              "near_rigid_beta", "materials", "pair_parameters", "steps")
CONSTRAINTS = {"ball", "weld", "coupler", "distance"}


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
        constraints = scene.get("constraints", [])
        if not {c["type"] for c in constraints} <= CONSTRAINTS:
            print(f"left out, has other constraints: {scene['name']}")
            continue
        more = {"constraints": constraints} if constraints else {}
        scenes[scene["model"]].append({key: scene[key] for key in SCENE_KEYS} | more)

    for model, group in sorted(scenes.items()):
        text = json.dumps(group, separators=(",", ":")).encode()
        packed = lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
        (target / model).with_suffix(".json.xz").write_bytes(packed)
        shutil.copyfile(source / model, target / model)
        steps = sum(len(scene["steps"]) for scene in group)
        print(f"{model:24} {len(group):3} scenes {steps:5} steps {len(packed):8} bytes")


if __name__ == "__main__":
    main()
