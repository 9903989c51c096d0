#!/usr/bin/env bash
# The wheels that deploy/Dockerfile installs, fetched outside of the build: pyproject.toml's dependencies, and what
# builds the package itself. Does nothing if they are already there.
#
#   deploy/offline/wheelhouse.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
wheels=$here/wheels
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
"$python" - "$root/pyproject.toml" >"$work/wanted.txt" <<'PYTHON'
import sys, tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)
print(*project["project"]["dependencies"], *project["build-system"]["requires"], sep="\n")
PYTHON
# An environment may hold an older setuptools than the build asks for.
sed -i "/^setuptools==/d" "$work/constraints.txt"

if cmp -s "$work/wanted.txt" "$wheels/wanted.txt" && cmp -s "$work/constraints.txt" "$wheels/constraints.txt"; then
  echo "the wheels are there"
  exit
fi
"$python" -m pip download -qq --only-binary=:all: --python-version 3.11 -d "$work" \
  -r "$work/wanted.txt" -c "$work/constraints.txt"
chmod 0755 "$work"
rm -rf "$wheels"
mv "$work" "$wheels"
du -sh "$wheels" | awk '{ print "wheels: " $1 }'
