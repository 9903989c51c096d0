#!/usr/bin/env bash
# A Docker engine of one's own where none is running: everything it makes is below DIR.
#
#   export DOCKER_HOST=$(deploy/offline/engine.sh start DIR)   # uses the engine that already answers, if one does
#   deploy/offline/engine.sh stop DIR                          # keeps the images; `remove DIR` deletes them too
set -euo pipefail

READY_WITHIN_S=60
STOPPED_WITHIN_S=60

usage() {
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

fail() {
  echo "engine: $*" >&2
  exit 1
}

answers() { timeout 10 docker --host "$1" version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# Only a process that is a dockerd with our pid file: a number in a stale file may be anybody's by now.
own_pid() {
  local pid
  pid=$(cat "$dir/dockerd.pid" 2>/dev/null) || return 1
  grep -qz -- "$dir/dockerd.pid" "/proc/$pid/cmdline" 2>/dev/null || return 1
  echo "$pid"
}

start() {
  local elsewhere=${DOCKER_HOST:-unix:///var/run/docker.sock} socket=unix://$dir/docker.sock pid
  if answers "$elsewhere"; then
    echo "$elsewhere"
    return
  fi
  if own_pid >/dev/null && answers "$socket"; then
    echo "$socket"
    return
  fi
  command -v dockerd >/dev/null || fail "no Docker engine answers and dockerd is not installed (Debian: docker.io)"
  [ "$(id -u)" -eq 0 ] || fail "no Docker engine answers, and only root can start one"
  [ ${#dir} -le 90 ] || fail "$dir is too long for the path of a socket: choose a shorter DIR"
  rm -f "$dir/dockerd.pid" "$dir/docker.sock"
  setsid nohup dockerd --data-root "$dir/data" --exec-root "$dir/exec" --host "$socket" --pidfile "$dir/dockerd.pid" \
    </dev/null >"$dir/dockerd.log" 2>&1 &
  pid=$!
  for _ in $(seq $((READY_WITHIN_S * 5))); do
    if answers "$socket"; then
      echo "$socket"
      return
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$dir/dockerd.log" >&2
  kill "$pid" 2>/dev/null || true
  fail "dockerd was not ready after ${READY_WITHIN_S} s or ended; its last words are above ($dir/dockerd.log)"
}

stop() {
  local pid
  if pid=$(own_pid); then
    kill "$pid"
    for _ in $(seq $((STOPPED_WITHIN_S * 5))); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.2
    done
    ! kill -0 "$pid" 2>/dev/null || fail "dockerd ($pid) has not ended after ${STOPPED_WITHIN_S} s"
  fi
  rm -rf "$dir/dockerd.pid" "$dir/docker.sock" "$dir/exec"
}

[ $# -eq 2 ] || usage
case $1 in
  start) mkdir -p "$2" ;;
  stop | remove) [ -d "$2" ] || exit 0 ;;
  *) usage ;;
esac
dir=$(cd "$2" && pwd)
case $1 in
  start) start ;;
  stop) stop ;;
  remove)
    stop
    rm -rf "$dir/data" "$dir/dockerd.log"
    ;;
esac
