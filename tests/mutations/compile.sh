#!/bin/sh
# Compiles through ccache, which has the objects of build/release: the flags are the same but for the
# packs, which compile in a tenth of the time where calls stay calls. A break may leave something unused,
# so it is compiled without -Werror.
packs=
for word do
  [ "$word" != -DSTICTION_FORCE_INLINE ] || packs=yes
done
for word do
  shift
  case $word in
    -DSTICTION_FORCE_INLINE) continue ;;
    -O3) [ -z "$packs" ] || word=-O1 ;;
    -Werror) [ -z "${STICTION_BROKEN:-}" ] || continue ;;
  esac
  set -- "$@" "$word"
done
# nobody else has a break's objects: no look at the preprocessed text
[ -z "${STICTION_BROKEN:-}" ] || export CCACHE_DEPEND=1
if command -v ccache >/dev/null; then exec ccache "$@"; fi
exec "$@"
