#!/usr/bin/env bash
# The base image made from Debian packages, for machines without an image registry: what the Dockerfile expects of the
# official Python image (python, pip) and what it would install (tc, nft). Does nothing if the image is already there.
#
#   deploy/offline/base-image.sh [NAME]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/debian.sh"

SUITE=bookworm # its Python is 3.11, like that of the official image in the Dockerfile
PACKAGES=python3,python3-pip,ca-certificates,iproute2,nftables,iputils-ping
name=${1:-pame-base:offline}

if docker image inspect "$name" >/dev/null 2>&1; then
  echo "$name is there"
  exit
fi
command -v mmdebstrap >/dev/null || {
  echo "base-image: mmdebstrap is not installed (Debian: apt-get install mmdebstrap)" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
debian_sources "$SUITE" >"$work/sources.list"
mmdebstrap --quiet --variant=minbase --include="$PACKAGES" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook='ln -s python3 "$1/usr/bin/python"' \
  --customize-hook='rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED' \
  "$SUITE" "$work/base.tar" "$work/sources.list"
docker import --change 'CMD ["python3"]' \
  --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' "$work/base.tar" "$name" >/dev/null
docker image inspect --format "$name: {{.Size}} bytes" "$name"
