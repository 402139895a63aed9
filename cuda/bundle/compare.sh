#!/bin/sh
# mujoco_warp and stiction on one device: joins the parts, then runs bench/compare_mjwarp.py with the
# Python and the packages in them. Needs an NVIDIA driver, tar and gzip; no network. For a check of itself
# with --device cpu it needs cpu.tar.gz, too.
#
# usage: compare.sh [ARGUMENTS of compare_mjwarp.py]
#
# A part may lie beside this file or in a folder beside it. STICTION_UNPACKED: where to unpack.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${STICTION_UNPACKED:-$here/unpacked}

join() {
  while read -r sum name; do
    for file in "$here/$name" "$here"/*/"$name"; do
      [ ! -e "$file" ] || break
    done
    [ -e "$file" ] || { echo "compare.sh: $name is missing" >&2; return 1; }
    [ "$(sha256sum <"$file" | cut -d' ' -f1)" = "$sum" ] ||
      { echo "compare.sh: $file is damaged" >&2; return 1; }
    cat "$file"
  done <"$here/parts.sha256"
}

# made beside and renamed: what is there is whole
if [ ! -d "$to" ]; then
  fresh=$to.$$
  trap 'rm -rf "$fresh"' EXIT
  mkdir -p "$fresh"
  join >"$fresh/joined"
  tar -xzf "$fresh/joined" -C "$fresh"
  rm "$fresh/joined"
  [ ! -e "$here/cpu.tar.gz" ] || tar -xzf "$here/cpu.tar.gz" -C "$fresh"
  mv "$fresh" "$to"
fi

# of no other Python
unset PYTHONSTARTUP VIRTUAL_ENV
export PYTHONHOME="$to/python" PYTHONPATH="$to/site:$to/bench" PYTHONDONTWRITEBYTECODE=
export PYTHONNOUSERSITE=1 PYTHONUNBUFFERED=1 MUJOCO_GL=disable
export LD_LIBRARY_PATH="$to/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export WARP_CACHE_PATH="${WARP_CACHE_PATH:-$to/kernels}"
exec "$to/python/bin/python3" "$to/bench/compare_mjwarp.py" --folder "$to/models" "$@"
