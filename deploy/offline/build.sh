#!/usr/bin/env bash
# All images on a machine without an image registry: base image, wheels, Debian's Prometheus, `docker compose build`.
# A second call reuses what is there. Needs a Docker engine, Compose v2 and buildx: see engine.sh and plugins.sh.
#
#   deploy/offline/build.sh
#   docker compose -f docker-compose.yml -f deploy/compose/offline.yml up --scale node=32
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/debian.sh"
cd "$here/../.."

"$here/base-image.sh" pame-base:offline
"$here/wheelhouse.sh"
if ! [ -x "$here/prometheus/promtool" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  debian_download bookworm "$work" prometheus
  dpkg -x "$work"/prometheus_*.deb "$work/files"
  install -D -t "$here/prometheus" "$work/files/usr/bin/prometheus" "$work/files/usr/bin/promtool"
fi
# The version of the environment that runs the tests, where there is one: an image has no git to ask.
PAME_VERSION=${PAME_VERSION:-$(.venv/bin/pame --version 2>/dev/null | cut -d" " -f2 || true)}
export PAME_VERSION
compose=(docker compose -f docker-compose.yml -f deploy/compose/offline.yml)
DOCKER_BUILDKIT=1 "${compose[@]}" build --quiet
"${compose[@]}" config --images | sort -u | while read -r image; do
  docker image inspect --format "$image {{.Size}}" "$image"
done | awk '{ printf "%-28s %5.0f MB\n", $1, $2 / 1e6 }'
