#!/bin/sh
# Tests and benchmarks on a GPU, from a folder that needs an NVIDIA driver and nothing else.
# usage: run.sh [RESULT.json] [--quick]
set -u
here=$(cd "$(dirname "$0")" && pwd)
result=${1:-$here/result.json}
quick=${2:-}
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export STICTION_TEST_DATA="$here/data"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

device=none driver=none
if command -v nvidia-smi >/dev/null 2>&1; then
  device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
fi
echo "device $device, driver $driver"

# Tests that need a device; without one they are skipped, which is a failure here.
"$here/bin/stiction_tests" --gtest_filter='*cuda*:*Cuda*' --gtest_output="json:$work/tests.json" \
  >"$work/tests.log" 2>&1
tests=$?
tail -n 30 "$work/tests.log"
grep 'SKIPPED.* ms)' "$work/tests.log" | grep -qv CudaCusolver && tests=77
# The cross-check needs a library that is not in this folder: STICTION_CUSOLVER, or the loader's path.
unchecked=$(grep -c 'SKIPPED.*CudaCusolver.* ms)' "$work/tests.log")
echo "$unchecked tests of cuSOLVER skipped"
[ -s "$work/tests.json" ] || echo null >"$work/tests.json"

sanitizer=absent
if command -v compute-sanitizer >/dev/null 2>&1; then
  for tool in memcheck racecheck synccheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$here/bin/stiction_tests" \
      --gtest_filter='Devices/OnDevice*cuda*' >"$work/$tool.log" 2>&1
    status=$?
    tail -n 3 "$work/$tool.log"
    if [ "$sanitizer" = absent ]; then sanitizer=; fi
    sanitizer="$sanitizer $tool:$status"
  done
fi

envs=256,1024,4096,8192,16384,32768,65536,131072
if [ "$quick" = --quick ]; then envs=1,256,4096,8192; fi
"$here/bin/bench_device" --device cuda --envs "1,$envs" --json "$work/bench.json" \
  "$here"/models/*.xml
bench=$?
if [ "$unchecked" -eq 0 ]; then
  "$here/bin/bench_device" --device cuda --envs 4096 --linear-solver cusolver \
    --json "$work/cusolver.json" "$here"/models/*.xml || bench=1
fi
[ -s "$work/cusolver.json" ] || echo null >"$work/cusolver.json"
[ -s "$work/bench.json" ] || echo null >"$work/bench.json"

{
  printf '{"device": "%s", "driver": "%s", "tests_status": %d, "sanitizer": "%s", "bench_status": %d,\n' \
    "$device" "$driver" "$tests" "$sanitizer" "$bench"
  printf '"tests": '; cat "$work/tests.json"
  printf ',\n"bench": '; cat "$work/bench.json"
  printf ',\n"cusolver": '; cat "$work/cusolver.json"
  printf '}\n'
} >"$result"
echo "tests $tests, sanitizer $sanitizer, bench $bench: $result"
[ "$tests" -eq 0 ] && [ "$bench" -eq 0 ]
