#!/bin/sh
# System packages that a target needs: installed when root, named when not. `base`: what a bare Debian lacks to make a
# virtual environment. `test`: the real programs the tests talk to (each test that needs one says so when it is missing).
set -eu
case "${1:-base}" in
base) wanted="python3-venv" ;;
test) wanted="searx chromium zsh fish" ;;
*) echo "usage: $0 base|test" >&2; exit 2 ;;
esac
# A Python that can make environments needs no package, wherever it came from.
[ "$1" = base ] && python3 -c 'import ensurepip' 2>/dev/null && exit 0
command -v dpkg-query >/dev/null || { echo "not a Debian system: install $wanted (or what it is called here) yourself" >&2; exit 0; }
missing=""
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then
  echo "installing$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
  echo "some tests will be skipped; to run them all: sudo apt-get install$missing" >&2
fi
