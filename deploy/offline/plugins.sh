#!/usr/bin/env bash
# Compose v2 and buildx for a Docker client that has none: Debian's programs, as plugins below DIR.
#
#   export DOCKER_CONFIG=DIR; deploy/offline/plugins.sh "$DOCKER_CONFIG"
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/debian.sh"

SUITE=trixie # the first Debian with Compose v2

[ $# -eq 1 ] || {
  sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
mkdir -p "$1/cli-plugins"
dir=$(cd "$1" && pwd)
export DOCKER_CONFIG=$dir

has() { docker "$1" version >/dev/null 2>&1; }

if ! has compose || ! has buildx; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  debian_download "$SUITE" "$work" docker-compose docker-buildx
  for package in "$work"/*.deb; do dpkg -x "$package" "$work/files"; done
  find "$work/files" -path '*/cli-plugins/docker-*' -type f -exec install -t "$dir/cli-plugins" {} +
fi
docker compose version --short
docker buildx version
