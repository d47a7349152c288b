#!/usr/bin/env bash
# From the README to a change that was seen, in less than five minutes: crawls a site of
# yours on this machine, changes one of its pages, and is told what changed.
#
#     first-change.sh URL FILE
#
# FILE is the page at URL, such as index.html of the folder in which
# `python3 -m http.server 8000` runs. The walk adds a line to it. starter must be on the path.
source "$(dirname "$0")/steps.sh"
url=$1 file=$(realpath "$2")
cd "$(mktemp -d)" # ./data is made here
trap 'kill "$dev" 2>/dev/null && wait "$dev" || true; rm -rf "$PWD"' EXIT

begin README.md 'starter dev http://localhost:8000/' "http://localhost:8000/=$url" >dev.log 2>&1 &
dev=$!
says() { grep -q "$@" || { kill -0 "$dev" || { cat dev.log >&2; exit 1; }; return 1; }; }
visited() { { starter pages "$crawl" --output json 2>/dev/null || true; } | says "\"url\":\"$url\".*\"visits\":$1"; }
await 'starter dev is ready' says ready dev.log
named() {
  kill -0 "$dev" || exit 1
  crawl=$(starter status --output json | sed 's/.*"crawl":"\([^"]*\)".*/\1/') && [ "$crawl" ]
}
await 'the crawl has a name' named
await 'the page is visited' visited 1

line="This line was added by a walk."
echo "<p>$line</p>" >>"$file"
step README.md 'starter visit URL' "URL=$url"
await 'the page is visited again' visited 2
step README.md 'starter history URL' "URL=$url"
step README.md 'starter diff URL' "URL=$url" | tee diff
grep -qF "+$line" diff || { echo "the difference does not show the line" >&2; exit 1; }
step README.md 'starter changes NAME' "NAME=$crawl" | tee changes
grep -qF "$url" changes || { echo "the changes do not name the page" >&2; exit 1; }
step README.md 'starter status'
echo "seen within $SECONDS seconds"
