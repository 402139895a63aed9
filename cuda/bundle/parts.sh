#!/bin/sh
# One part of run.sh: parts.sh NAME FOLDER leaves FOLDER/NAME.json.
set -u
here=$(cd "$(dirname "$0")" && pwd)
part=$1 work=$2 json=$2/$1.json
# another device checks these files, and measures nothing
device=${STICTION_BENCH_DEVICE:-cuda}
envs=${STICTION_BENCH_ENVS:-8192}
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export STICTION_TEST_DATA="$here/data"
robots="$here/models/humanoid.xml $here/models/g1_feetonly.xml $here/models/go2.xml"

bench() {  # FILE ENVS ARGUMENTS...
  file=$1 sizes=$2
  shift 2
  "$here/bin/bench_device" --device "$device" --envs "$sizes" --json "$file" "$@"
}

# [{"switches": "...", "rows": [...]}, ...] of environment variables, each set for a run
with_switches() {  # ENVS ROBOTS SWITCHES...
  sizes=$1 models=$2 bracket='['
  shift 2
  for switches; do
    echo "-- $switches"
    # shellcheck disable=SC2086
    (export "${switches?}" && bench "$work/rows" "$sizes" --rounds 1 $models) || exit
    printf '%s{"switches": "%s", "rows": %s}' "$bracket" "$switches" "$(cat "$work/rows")" \
      >>"$work/open"
    { cat "$work/open" && echo ']'; } >"$json"
    bracket=,
  done
}

case $part in
  speed) bench "$json" "${STICTION_BENCH_SPEED:-8192,1,32768}" "$here"/models/*.xml ;;
  sweep)
    bench "$json" "${STICTION_BENCH_SWEEP:-256,131072,1024,65536,4096,16384}" --rounds 3 --settle 1 \
      "$here"/models/*.xml
    ;;
  times) STICTION_CUDA_TIMES=1 bench "$json" "$envs" --rounds 1 "$here"/models/*.xml ;;

  # without a device they are skipped, which is a failure here
  tests)
    "$here/bin/stiction_tests" --gtest_brief=1 --gtest_filter='*cuda*:*Cuda*-*CudaCusolver*' \
      --gtest_output="json:$json" || exit
    ! grep -q '"result": "SKIPPED"' "$json"
    ;;

  switches)
    export STICTION_CUDA_TIMES=1
    with_switches "$envs" "$robots" NONE=0 STICTION_CUDA_SOLVE_BLOCKS=6 STICTION_CUDA_SOLVE_BLOCKS=8 \
      STICTION_CUDA_ARENA=0 STICTION_CUDA_ARENA=43 STICTION_CUDA_ARENA=57 STICTION_CUDA_ARENA=85 \
      STICTION_CUDA_COLLIDE_BLOCKS=3 STICTION_CUDA_COLLIDE_BLOCKS=4
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

  # A step of each robot after it has landed: the rows of ncu's tables, as lines.
  ncu)
    command -v ncu >/dev/null || { echo '"absent"' >"$json"; exit 0; }
    for robot in $robots; do
      STICTION_CUDA_GRAPHS=0 ncu --csv --page raw --kill yes --clock-control none \
        --kernel-name regex:per_env --launch-skip 3000 --launch-count 9 \
        --section SpeedOfLight --section Occupancy --section SchedulerStats \
        --section WarpStateStats --section MemoryWorkloadAnalysis \
        "$here/bin/bench_device" --device "$device" --envs "$envs" --settle 0 --calls 400 \
        --rounds 1 "$robot" >"$work/csv"
      echo "$robot: $?"
      grep '^"' "$work/csv" >>"$work/lines"
      { echo '[' && sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/"/; $!s/$/,/' "$work/lines" &&
        echo ']'; } >"$json"
    done
    test -s "$work/lines"
    ;;

  sanitizer)
    command -v compute-sanitizer >/dev/null || { echo '"absent"' >"$json"; exit 0; }
    bracket='{' worst=0
    for tool in memcheck racecheck synccheck; do
      timeout 95 compute-sanitizer --tool "$tool" --error-exitcode 9 "$here/bin/stiction_tests" \
        --gtest_filter='Devices/OnDevice*cuda*'
      status=$?
      echo "$tool: $status"
      printf '%s"%s": %d' "$bracket" "$tool" "$status" >>"$work/open"
      { cat "$work/open" && echo '}'; } >"$json"
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
    # shellcheck disable=SC2086
    "$STICTION_MJWARP/compare.sh" --device "$device" --limit $((500 - waited)) \
      --out "$work/mjwarp" ${STICTION_COMPARE_ARGUMENTS:-}
    status=$?
    cp "$work/mjwarp/mjwarp.json" "$json"
    exit $status
    ;;
esac
