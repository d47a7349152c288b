#!/usr/bin/env bash
# Keeps a folder up to date with a crawl: pages/ID.json for each page.
#
#     mirror.sh CRAWL FOLDER
#
# It may be killed at any moment: the cursor is written after what it stands for.
set -euo pipefail
crawl=$1
from=$PWD # where starter finds its data
mkdir -p "$2"
cd "$2"
exec 9>lock
flock 9 # what is left of a killed run ends first
put() { cat >"$1.new" && mv "$1.new" "$1"; } # whole, or not at all

mirror() { # reads for each change: the page, what it is, the cursor
  while read -r id && read -r page && read -r cursor; do
    case $page in
      '') ;;
      null) rm -f "pages/$id.json" || return ;; # forgotten
      *) put "pages/$id.json" <<<"$page" || return ;; # as on a full disk: the cursor must not pass it
    esac
    if [ -n "$cursor" ]; then put cursor <<<"$cursor" || return; fi
  done
}

fields='.page.id // "", (if .page then .page as $p | if $p.url then
  {url: $p.url, state: $p.state, version: .version.seq, sha256: .version.sha256} else null end | tojson else "" end), .cursor // ""'
while :; do
  begin=(--snapshot)
  if [ -s cursor ]; then begin=(--after "$(<cursor)"); else rm -rf pages; fi
  mkdir -p pages
  code=0
  (cd "$from" && exec starter changes "$crawl" "${begin[@]}" --follow --output json) 9>&- | jq --unbuffered -r "$fields" 9>&- | mirror || { code=${PIPESTATUS[0]}; [ "$code" != 0 ] || code=1; }
  if [ "$code" != 4 ]; then exit "$code"; fi
  rm -f cursor # the changes after it are no longer kept
done
