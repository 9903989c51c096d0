#!/usr/bin/env bash
# The wheels that deploy/Dockerfile installs, fetched outside of the build: pyproject.toml's dependencies, and what
# builds the package itself; with PAME_NODE_TARGET=node-torch also torch. Does nothing if they are already there.
#
#   deploy/offline/wheelhouse.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$root/.venv/bin/python

work=$(mktemp -d "$here/wheels.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The versions of the environment that runs the tests, where there is one: containers and it compute the same bits.
if [ -x "$python" ]; then
  "$python" -m pip freeze --exclude-editable >"$work/constraints.txt"
else
  python=python3
  : >"$work/constraints.txt"
fi
# An environment may hold an older setuptools than the build asks for.
sed -i "/^setuptools==/d" "$work/constraints.txt"

# NAME, and how its requirements are found in pyproject.toml.
fetch() {
  local name=$1 wheels=$here/$1 new=$work/$1
  mkdir "$new"
  cp "$work/constraints.txt" "$new"
  "$python" -c "import sys, tomllib; p = tomllib.load(open(sys.argv[1], 'rb')); print($2, sep='\n')" \
    "$root/pyproject.toml" >"$new/wanted.txt"
  if cmp -s "$new/wanted.txt" "$wheels/wanted.txt" && cmp -s "$new/constraints.txt" "$wheels/constraints.txt"; then
    echo "$name: they are there"
    return
  fi
  "$python" -m pip download -qq --only-binary=:all: --python-version 3.11 -d "$new" \
    -r "$new/wanted.txt" -c "$new/constraints.txt"
  chmod 0755 "$new"
  rm -rf "$wheels"
  mv "$new" "$wheels"
  du -sh "$wheels" | awk -v name="$name" '{ print name ": " $1 }'
}

fetch wheels "*p['project']['dependencies'], *p['build-system']['requires']"
if [ "${PAME_NODE_TARGET:-}" = node-torch ]; then
  fetch torch-wheels "*p['project']['optional-dependencies']['vision']"
fi
