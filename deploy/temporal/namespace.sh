#!/bin/sh
# Makes recrawl's namespace and search attributes, once Temporal answers. Runs at
# every start and changes nothing when they are there. TEMPORAL_ADDRESS and
# TEMPORAL_NAMESPACE are the CLI's own variables.
set -eu

# A closed workflow, and with it what the UI shows of it, is kept for so long.
# What recrawl knows is in its own store for ever.
retention=24h

# A new namespace takes seconds until every part of the server knows it.
patiently() { # COMMAND…
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || return 1
    sleep 1
  done
}

have_namespace() {
  temporal operator namespace describe >/dev/null 2>&1 ||
    temporal operator namespace create --retention "$retention" "$TEMPORAL_NAMESPACE"
}

have_attributes() {
  temporal operator search-attribute create \
    --name CrawlName --type Keyword \
    --name CrawlHost --type Keyword \
    --name CrawlState --type Keyword
}

patiently temporal operator cluster health
patiently have_namespace
patiently have_attributes
echo "namespace $TEMPORAL_NAMESPACE is ready"
