# Sourced by the scripts: progress lines with the seconds since the outermost script started.
export HONE_STARTED_AT=${HONE_STARTED_AT:-$EPOCHSECONDS}

say() {
  printf '[%4d s] %s\n' $((EPOCHSECONDS - HONE_STARTED_AT)) "$*" >&2
}

die() {
  say "error: $*"
  exit 1
}
