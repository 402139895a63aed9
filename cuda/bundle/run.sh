#!/bin/sh
# Tests and measurements on a GPU, from a folder that needs an NVIDIA driver and nothing else.
#
# usage: run.sh [FOLDER] [PART...]     results go to FOLDER; default: results, beside this file
#
# FOLDER/result.json and FOLDER/log.txt are complete after each part; a part that passes its limit is
# stopped, and what it has found by then is there. Without names all run in this order; seconds as
# estimated, and the limit:
#
#   speed       80, 150  all robots with 8192 environments, one, 32768
#   tests       90, 240  those that need a card, a process for each
#   times       20,  60  of each kernel, by events, graphs off
#   compare    330, 560  with mujoco_warp, where $STICTION_MJWARP has the other bundle; its kernels are
#                        compiled from the beginning on, beside the other parts
#   sweep      150, 280  256 to 131072 environments
#   python      30, 150  tensors of torch, where that machine's Python has it and the bundle its module
#   groups      40, 150  a warp and a thread per environment, of small models
#   switches    60, 150  share of fast memory, lanes and order of environments, size of blocks
#   cusolver    30, 150  its factorization against ours, where the library is
#   ncu         60, 150  occupancy, issue slots, stalls; where there is ncu
#   sanitizer  180, 300  memcheck, racecheck (of a block, too), synccheck; where there is compute-sanitizer
#
# In calls of ten minutes: speed tests times | compare | sweep python groups switches cusolver ncu |
# sanitizer. Kernels that are compiled beside other parts disturb them a little: not so in calls of their own.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/results}
[ $# -eq 0 ] || shift
export STICTION_MJWARP="${STICTION_MJWARP:-$here/mjwarp}"
parts=${*:-speed tests times compare sweep python groups switches cusolver ncu sanitizer}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/log.txt
: >"$log"
: >"$work/done"
failed=0 begin=$(date +%s)

device=none driver=none
if command -v nvidia-smi >/dev/null 2>&1; then
  of_card() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>&1 | head -n 1 | tr -d '"\\\t'; }
  device=$(of_card name)
  driver=$(of_card driver_version)
fi
echo "device $device, driver $driver"

# {"device": ..., "parts": {name: {"status", "seconds", "result"}}} of the parts so far
write_result() {
  {
    printf '{"device": "%s", "driver": "%s", "parts": {' "$device" "$driver"
    comma=
    while read -r name status seconds; do
      printf '%s\n"%s": {"status": %d, "seconds": %d, "result": ' \
        "$comma" "$name" "$status" "$seconds"
      if [ -s "$work/$name.json" ]; then cat "$work/$name.json"; else printf null; fi
      printf '}'
      comma=,
    done <"$work/done"
    printf '\n}}\n'
  } >"$out/result.new" && mv "$out/result.new" "$out/result.json"
}

limit_of() {
  case $1 in
    speed) echo 220 ;;
    python | switches | groups | cusolver | ncu) echo 150 ;;
    tests) echo 240 ;;
    sweep) echo 280 ;;
    times) echo 60 ;;
    compare) echo 560 ;;
    sanitizer) echo 300 ;;
    *) return 1 ;;
  esac
}

case " $parts " in
  *" compare "*)
    [ ! -x "$STICTION_MJWARP/compare.sh" ] || timeout 540 "$here/parts.sh" compile "$work" &
    ;;
esac
for name in $parts; do
  limit=$(limit_of "$name") || { echo "run.sh: no part $name"; failed=1; continue; }
  start=$(date +%s)
  echo "== $name, $((start - begin)) s after the start" | tee -a "$log"
  timeout -k 5 "$limit" "$here/parts.sh" "$name" "$work" >"$work/$name.log" 2>&1
  status=$?
  head -c 1500000 "$work/$name.log" >>"$log"
  tail -n 40 "$work/$name.log"
  seconds=$(($(date +%s) - start))
  echo "$name $status $seconds" >>"$work/done"
  [ "$status" -eq 0 ] || failed=1
  echo "== $name: status $status, $seconds s" | tee -a "$log"
  write_result
done
echo "results in $out"
exit "$failed"
