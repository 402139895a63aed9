# Functions of `./dev gpu-bundle`, which reads this file.

# The libraries, but glibc, that programs and modules need.
copy_libraries() {  # TO FILE...
  local to=$1 lib
  mkdir -p "$to"
  ldd "${@:2}" 2>/dev/null | sed -nE 's/.* => (\/[^ ]*).*/\1/p' | sort -u |
    while read -r lib; do
      case ${lib##*/} in
        libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libutil.so.* | \
          libresolv.so.* | ld-linux*) ;;
        *) [[ $lib == "$root"/* ]] || cp -L "$lib" "$to" ;;  # what lies in the bundle is found there
      esac
    done
}

# Programs, models and data; needs nvcc.
gpu_bundle() {
  local bundle=build/gpu-bundle
  case ${1:-} in
    '' | --mjwarp) ;;
    *) fail "gpu-bundle: unknown argument $1 (known: --mjwarp)" ;;
  esac
  command -v nvcc >/dev/null || fail 'gpu-bundle: no nvcc; install the CUDA toolkit, 12.8 or newer'
  need build "${build_packages[@]}" || exit 1
  setup_python
  configure release
  logged configure-bundle cmake build/release -D STICTION_BUNDLE=ON
  build release stiction_tests bench_device python/all
  rm -rf $bundle
  mkdir -p $bundle/bin $bundle/robots
  cp build/release/tests/stiction_tests build/release/bench/bench_device $bundle/bin
  strip $bundle/bin/*
  copy_libraries $bundle/lib $bundle/bin/*
  cp python/stiction/assets/robots/*.xml $bundle/robots
  $venv/bin/python bench/scenes.py --write $bundle/models
  # models that a thread can have
  mkdir $bundle/small
  cp envs/assets/{inverted_pendulum,inverted_double_pendulum,reacher,isaac_cartpole}.xml $bundle/small
  cp cuda/bundle/run.sh cuda/bundle/parts.sh $bundle
  if [[ -n ${STICTION_BUNDLE_PYTHON:-} ]]; then bundle_python $bundle; fi
  du -sh $bundle | sed 's/^/  /'
  if [[ ${1:-} == --mjwarp ]]; then mjwarp_bundle; fi
}

# The module for the Python of that machine, whose torch and pytest run the tests of tensors.
bundle_python() {  # BUNDLE
  local tree=build/bundle-python pins
  mkdir -p $tree
  logged bundle-venv "$STICTION_BUNDLE_PYTHON" -m venv $tree/venv
  mapfile -t pins < <(grep -E '^(numpy|nanobind)==' requirements.txt)
  logged bundle-pip $tree/venv/bin/pip install --progress-bar off "${pins[@]}"
  logged bundle-configure cmake --preset release -B $tree -D STICTION_BUILD_TESTS=OFF \
    -D Python_EXECUTABLE="$root/$tree/venv/bin/python"
  logged bundle-build cmake --build $tree -j "$jobs" --target python/all
  mkdir -p "$1/python" "$1/tests"
  cp -rL $tree/python/stiction "$1/python"
  rm -rf "$1"/python/stiction/__pycache__
  strip "$1"/python/stiction/_core*.so
  copy_libraries "$1/python/lib" "$1"/python/stiction/_core*.so
  rm -f "$1"/python/lib/lib{stdc++,gcc_s}.so*  # that Python has newer ones
  cp tests/python/batch/test_device_array.py "$1/tests"
}

# The interpreter, mujoco_warp and what it needs, our module, the script and the robots, packed and cut:
# a transfer may be limited to 64 MiB.
mjwarp_bundle() {
  local bundle=build/mjwarp-bundle tree=build/mjwarp-tree base version pins modules
  base=$($venv/bin/python -c 'import sys; print(sys.base_prefix)')
  version=python$($venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  rm -rf $bundle $tree
  mkdir -p $bundle $tree/python/bin $tree/python/lib $tree/site/stiction $tree/bench
  cp "$base/bin/$version" $tree/python/bin/python3
  tar -C "$base/lib" --exclude=site-packages --exclude=__pycache__ --exclude=test --exclude=tests \
    --exclude=idlelib --exclude=tkinter --exclude=ensurepip --exclude='config-*' \
    --exclude=lib2to3 --exclude='_test*' --exclude='_tkinter*' --exclude='_curses*' \
    --exclude='nis.*' --exclude='readline.*' --exclude='_sqlite3.*' -c "$version" | tar -C $tree/python/lib -x
  mapfile -t pins < <(grep -E '^(numpy|mujoco)==' requirements.txt)
  logged mjwarp-packages $venv/bin/pip install --target $tree/site --no-compile \
    "${pins[@]}" -r requirements-mjwarp.txt
  # graphics, tests and examples: nothing of it runs here
  (cd $tree/site && rm -rf bin OpenGL pyopengl-* glfw* websockets* mujoco_studio-* mujoco/studio \
    mujoco/testdata mujoco/include mujoco/doc warp/tests warp/examples numpy/_core/tests)
  find $tree/site/mujoco_warp/test_data -mindepth 1 -maxdepth 1 ! -name humanoid \
    ! -name '*.py' -exec rm -rf {} +
  cp -rL build/release/python/stiction/. $tree/site/stiction
  find $tree -name __pycache__ -prune -exec rm -rf {} +
  mapfile -t modules < <(find $tree -name '*.so' -o -path '*/python/bin/*' -type f)
  copy_libraries $tree/lib "${modules[@]}"
  cp bench/scenes.py bench/tables.py bench/peers.py bench/compare_mjwarp.py $tree/bench
  $venv/bin/python bench/scenes.py --write $tree/models
  # only a check without a card needs the compiler for CPUs
  tar -C $tree -czf $bundle/cpu.tar.gz site/warp/bin/warp-clang.so
  logged mjwarp-pack bash -c "tar -C $tree -cz --exclude=warp-clang.so . |
    split -b 56M -d - $bundle/part."
  (cd $bundle && sha256sum part.* >parts.sha256)
  cp cuda/bundle/compare.sh $bundle
  du -sm $tree $bundle/* | sed 's/^/  MiB /'
  rm -rf $tree
}
