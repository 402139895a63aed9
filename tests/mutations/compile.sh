#!/bin/sh
# Compiles through ccache, which has the objects of build/release: the flags are the same. A break may
# leave something unused, so it is compiled without -Werror.
for word do
  shift
  if [ -z "${STICTION_BROKEN:-}" ] || [ "$word" != -Werror ]; then set -- "$@" "$word"; fi
done
if command -v ccache >/dev/null; then exec ccache "$@"; fi
exec "$@"
