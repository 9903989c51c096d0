# To be sourced: where this machine's own apt finds Debian, so that nothing here names a mirror.

# debian_sources SUITE: the machine's Debian sources as one-line entries for SUITE, its updates and security.
debian_sources() {
  local own keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  own=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME:-}") || own=
  if [ -z "$own" ] || [ ! -r "$keyring" ]; then
    echo "this needs a Debian machine with debian-archive-keyring; with internet: docker compose build" >&2
    return 1
  fi
  written_sources /etc/apt | awk -v own="$own" -v suite="$1" -v keyring="$keyring" '
    $3 == "main" && ($2 == own || $2 == own "-updates" || $2 == own "-security") {
      sub("^" own, suite, $2)
      line = "deb [signed-by=" keyring "] " $1 " " $2 " main"
      if (!seen[line]++) print line
      found = 1
    }
    END {
      if (!found) { print "no source of Debian " own " in the configuration of apt" > "/dev/stderr"; exit 1 }
    }'
}

# written_sources FOLDER: site, suite and component of every source in apt's FOLDER, in both of its formats.
# (`apt-get indextargets` says nothing on a machine whose package lists were deleted to save space.)
written_sources() {
  local folder=$1
  { cat "$folder"/sources.list "$folder"/sources.list.d/*.list 2>/dev/null || true; } |
    sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) +([^ ]+) +(.*)/\2 \3 \4/p' |
    awk '{ for (i = 3; i <= NF; i++) print $1, $2, $i }'
  awk -v RS= '{
      delete field
      count = split($0, lines, "\n")
      for (i = 1; i <= count; i++) if (match(lines[i], /^[A-Za-z-]+:/))
        field[tolower(substr(lines[i], 1, RLENGTH - 1))] = substr(lines[i], RLENGTH + 1)
      if (field["types"] !~ /(^| )deb( |$)/ || field["enabled"] ~ /no/) next
      sites = split(field["uris"], site, " ")
      suites = split(field["suites"], suite, " ")
      components = split(field["components"], component, " ")
      for (a = 1; a <= sites; a++) for (b = 1; b <= suites; b++) for (c = 1; c <= components; c++)
        print site[a], suite[b], component[c]
    }' "$folder"/sources.list.d/*.sources 2>/dev/null || true
}

# debian_download SUITE FOLDER PACKAGE...: the packages' files of SUITE in FOLDER, the system's apt untouched.
debian_download() {
  local suite=$1 folder=$2 private status=0
  shift 2
  private=$(mktemp -d)
  mkdir -p "$private/lists/partial" "$private/cache/archives/partial" "$folder"
  # Joined by &&: `set -e` is off inside a command whose failure is looked at.
  (
    options=(
      -o "Dir::Etc::sourcelist=$private/sources.list" -o Dir::Etc::sourceparts=/dev/null
      -o "Dir::State::lists=$private/lists" -o "Dir::Cache=$private/cache"
      -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3
    )
    debian_sources "$suite" >"$private/sources.list" && apt-get -qq "${options[@]}" update && cd "$folder" &&
      apt-get -qq "${options[@]}" download "$@"
  ) || status=$?
  rm -rf "$private"
  return "$status"
}
