#!/bin/sh
# Records the data folder of a crawl that a release was killed in the middle of, for
# TestLastRelease: tools/record-release.sh COMMIT VERSION
#
# It builds that commit's starter and lets TestRecordRelease crawl with it. The test gets a
# host name of its own, for Temporal notes the one of whoever runs it. Needs RECRAWL_TEMPORAL_CLI
# and unshare.
set -eu
commit=$1 version=$2
root=$(git rev-parse --show-toplevel)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/source"
git -C "$root" archive "$commit" | tar -x -C "$tmp/source"
(cd "$tmp/source" && CGO_ENABLED=0 go build -trimpath -o "$tmp/starter" ./starter)
cd "$root"
export RECRAWL_RECORD_RELEASE="$tmp/starter" RECRAWL_RECORD_VERSION="$version"
unshare --map-root-user --uts sh -c 'hostname crawler && exec go test -tags record ./internal/e2e -count 1 -run "^TestRecordRelease$" -v'
