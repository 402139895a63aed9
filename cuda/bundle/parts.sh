#!/bin/sh
# One part of run.sh: parts.sh NAME FOLDER leaves FOLDER/NAME.json.
set -u
here=$(cd "$(dirname "$0")" && pwd)
part=$1 work=$2 json=$2/$1.json open=$2/$1.open
: >"$open"
# another device checks these files, and measures nothing
device=${STICTION_BENCH_DEVICE:-cuda}
envs=${STICTION_BENCH_ENVS:-8192}
given=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH="$here/lib${given:+:$given}"
export STICTION_ROBOTS="$here/robots"
robots="$here/models/humanoid.xml $here/models/g1_feetonly.xml $here/models/go2.xml"

bench() {  # FILE ENVS ARGUMENTS...
  file=$1 sizes=$2
  shift 2
  "$here/bin/bench_device" --device "$device" --envs "$sizes" --json "$file" "$@"
}

# The file so far and what closes it: whole at any time.
close_json() {  # BRACKET
  { cat "$open" && echo "$1"; } >"$work/closed" && mv "$work/closed" "$json"
}

# [{"switches": "...", "rows": [...]}, ...] of environment variables, each set for a run
with_switches() {  # ENVS ROBOTS SWITCHES...
  sizes=$1 models=$2 bracket='[' worst=0
  shift 2
  for switches; do
    echo "-- $switches"
    echo null >"$work/rows"
    # shellcheck disable=SC2086
    (export "${switches?}" && bench "$work/rows" "$sizes" --rounds 1 $models) || worst=$?
    printf '%s{"switches": "%s", "rows": %s}' "$bracket" "$switches" "$(cat "$work/rows")" \
      >>"$open"
    close_json ']'
    bracket=,
  done
  return "$worst"
}

# A process for each test with all its scenes: after a fault a process can do nothing more on the card,
# and one that hangs is stopped. {"suite.test/scenes": {"status", "seconds", "result"}, ...}
each_test() {  # FILTER
  bracket='{' worst=0
  "$here/bin/stiction_tests" --gtest_list_tests --gtest_filter="$1" | sed 's/ *#.*//' |
    awk '/^[^ ]/ { suite = $1 } /^ / { sub("/.*cuda.*", "/*cuda*", $1); print suite $1 }' |
    uniq >"$work/list"
  test -s "$work/list" || return 1
  while read -r test; do
    rm -f "$work/one"
    begin=$(date +%s)
    # of this process group: who stops the part stops it
    timeout --foreground -s KILL 40 "$here/bin/stiction_tests" --gtest_filter="$test" \
      --gtest_output="json:$work/one" >"$work/output" 2>&1 </dev/null
    status=$?
    seconds=$(($(date +%s) - begin))
    [ "$status" -eq 0 ] && grep -q '"result": "SKIPPED"' "$work/one" && status=77
    echo "$test: status $status, $seconds s"
    if [ "$status" -ne 0 ]; then
      worst=$status
      head -c 12000 "$work/output"
      echo
      echo "..."
      tail -n 4 "$work/output" | cut -c 1-400  # the last one that began
    fi
    if [ "$(wc -c 2>/dev/null <"$work/one" || echo 0)" -gt 100000 ] || [ ! -s "$work/one" ]; then
      echo null >"$work/one"
    fi
    printf '%s\n"%s": {"status": %d, "seconds": %d, "result": %s}' "$bracket" "$test" "$status" \
      "$seconds" "$(cat "$work/one")" >>"$open"
    close_json '}'
    bracket=,
  done <"$work/list"
  return "$worst"
}

case $part in
  speed)
    bench "$json" "${STICTION_BENCH_SPEED:-8192,1,32768}" --motion both "$here"/models/*.xml
    ;;
  sweep)
    bench "$json" "${STICTION_BENCH_SWEEP:-256,131072,1024,65536,4096,16384,2500,12000}" --rounds 3 --settle 1 \
      "$here"/models/*.xml
    ;;
  times) STICTION_CUDA_TIMES=1 bench "$json" "$envs" --rounds 1 "$here"/models/*.xml ;;

  # without a device they are skipped, which is a failure here (77)
  tests) each_test '*cuda*:*Cuda*-*CudaCusolver*' ;;

  # of tensors, by the Python there
  python)
    export LD_LIBRARY_PATH="$here/python/lib${given:+:$given}"
    if ! cd "$here/tests" || ! python3 -c 'import pytest, torch'; then
      echo '"absent"' >"$json"
      exit 0
    fi
    PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 timeout --foreground 130 \
      python3 -m pytest -p no:cacheprovider -W ignore -m gpu -v -rs test_device_array.py >"$work/pytest"
    status=$?
    tail -c 20000 "$work/pytest"
    printf '{%s}\n' "$(sed -nE 's/^[^ ]*::([a-z_]+) (PASSED|FAILED|SKIPPED|ERROR).*/"\1": "\2"/p' \
      "$work/pytest" | paste -sd,)" >"$json"
    [ "$status" -ne 0 ] || ! grep -q SKIPPED "$json" || status=77
    exit "$status"
    ;;

  switches)
    with_switches "$envs" "$robots" NONE=0 STICTION_CUDA_STEP_WARPS=4 STICTION_CUDA_STEP_WARPS=8 \
      STICTION_CUDA_STEP=0 STICTION_CUDA_GROUP=4 STICTION_CUDA_GROUP=16 \
      STICTION_CUDA_ARENA=57 STICTION_CUDA_ARENA=85
    ;;
  groups) # of models that a thread can have
    with_switches "${STICTION_BENCH_GROUPS:-4096,32768,131072}" "$(echo "$here"/small/*.xml)" \
      STICTION_CUDA_GROUP=warp STICTION_CUDA_GROUP=thread
    ;;

  # the library is not in this folder: STICTION_CUSOLVER, or the loader's path
  cusolver)
    "$here/bin/stiction_tests" --gtest_brief=1 --gtest_filter='*CudaCusolver*' \
      --gtest_output="json:$work/found" || exit
    if grep -q SKIPPED "$work/found"; then
      echo '"absent"' >"$json"
      exit 0
    fi
    bench "$json" 4096 --rounds 1 --linear-solver cusolver "$here"/models/*.xml
    ;;

  # The launches of a call of each robot after it has landed, of each kernel alone and of all steps at once: the rows
  # of ncu's tables, as lines. The kernels of a step have one name: they follow each other as in a step, and
  # refresh is the last one.
  ncu)
    command -v ncu >/dev/null || { echo '"absent"' >"$json"; exit 0; }
    launches() { # TOGETHER SKIP COUNT
      STICTION_CUDA_GRAPHS=0 STICTION_CUDA_STEP=$1 ncu --csv --page raw --kill yes \
        --clock-control none --kernel-name 'regex:per_env|step_by_tiles' --launch-skip "$2" \
        --launch-count "$3" --section SpeedOfLight --section Occupancy --section SchedulerStats \
        --section WarpStateStats --section MemoryWorkloadAnalysis \
        "$here/bin/bench_device" --device "$device" --envs "$envs" --settle 0 --calls 400 \
        --rounds 1 "$robot" >"$work/csv"
      echo "$robot: $?"
      grep '^"' "$work/csv" >>"$work/lines"
    }
    for robot in $robots; do
      launches 0 3000 17
      launches 1 500 2
      { echo '[' && sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/"/; $!s/$/,/' "$work/lines"; } \
        >"$open"
      close_json ']'
    done
    test -s "$work/lines"
    ;;

  sanitizer)
    command -v compute-sanitizer >/dev/null || { echo '"absent"' >"$json"; exit 0; }
    bracket='{' worst=0
    for run in memcheck racecheck synccheck racecheck:block; do
      (
        [ "$run" = "${run%:*}" ] || export STICTION_CUDA_GROUP="${run#*:}"
        timeout 70 compute-sanitizer --tool "${run%:*}" --error-exitcode 9 \
          "$here/bin/stiction_tests" --gtest_filter='Devices/OnDevice*cuda*'
      )
      status=$?
      echo "$run: $status"
      printf '%s"%s": %d' "$bracket" "$run" "$status" >>"$open"
      close_json '}'
      bracket=,
      [ "$status" -eq 0 ] || worst=$status
    done
    exit "$worst"
    ;;

  compile) # the kernels of mujoco_warp; `compare` waits for it
    # shellcheck disable=SC2086
    "$STICTION_MJWARP/compare.sh" ${STICTION_COMPARE_ARGUMENTS:-} --compile --device "$device" \
      >"$work/compile.log" 2>&1
    touch "$work/compiled"
    ;;
  compare)
    if [ ! -x "$STICTION_MJWARP/compare.sh" ]; then
      echo "$STICTION_MJWARP has no compare.sh"
      exit 1
    fi
    waited=0
    while [ ! -e "$work/compiled" ] && [ $waited -lt 300 ]; do
      sleep 1
      waited=$((waited + 1))
    done
    cat "$work/compile.log"
    ln -s "$work/mjwarp/mjwarp.json" "$json"  # also of what is stopped
    # shellcheck disable=SC2086
    "$STICTION_MJWARP/compare.sh" --device "$device" --limit $((500 - waited)) \
      --out "$work/mjwarp" ${STICTION_COMPARE_ARGUMENTS:-}
    ;;
esac
