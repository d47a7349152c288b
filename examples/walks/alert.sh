#!/usr/bin/env bash
# From docs/operations.md to an alert that fires because a host has stopped answering.
#
#     alert.sh URL STOP
#
# URL is a site of yours on this machine, such as `python3 -m http.server 8000` makes of a
# folder, and STOP the command that stops it. starter, prometheus and promtool must be on the
# path. The rules are those of deploy/prometheus, but wait for seconds instead of minutes.
source "$(dirname "$0")/steps.sh"
url=$1 stop=$2 metrics=127.0.0.1:${METRICS_PORT:-9090} prometheus=127.0.0.1:${PROMETHEUS_PORT:-9091}
cd "$(mktemp -d)" # ./data is made here
started=()
trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null && wait "$p" || true; done; rm -rf "$PWD"' EXIT

# The way there.
grep -F '](monitoring.md)' "$root/docs/operations.md" >/dev/null || { echo "docs/operations.md does not lead to docs/monitoring.md" >&2; exit 1; }
begin docs/monitoring.md 'RECRAWL_METRICS=127.0.0.1:9090 starter dev https://example.com/ --contact you@example.org' "127.0.0.1:9090=$metrics" \
  "https://example.com/=$url --name mine --delay 200ms --policy fixed --default-interval 2s --min-interval 1s" >dev.log 2>&1 &
started+=($!)
alive() { kill -0 "$1" 2>/dev/null || { echo "it has ended:" >&2; cat "$2" >&2; exit 1; }; }
look=$(said docs/monitoring.md 'curl -s http://127.0.0.1:9090/metrics | grep recrawl_crawl' "127.0.0.1:9090=$metrics")
measured() { alive "${started[0]}" dev.log; bash -c "$look" | grep -F 'recrawl_crawl_visits_total{' >/dev/null; }
await 'the worker counts visits of the crawl' measured

# Prometheus as docs/monitoring.md says: the worker as the job recrawl, and the rules.
sed -E 's/^( +for:) .*/\1 3s/' "$root/deploy/prometheus/alerts.yml" >alerts.yml
cat >prometheus.yml <<EOF
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs:
  - job_name: recrawl
    static_configs: [{targets: ['$metrics']}]
EOF
promtool check config prometheus.yml >&2
prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address="$prometheus" >prometheus.log 2>&1 &
started+=($!)
asked() { alive "${started[1]}" prometheus.log; curl -sfG "http://$prometheus/api/v1/$1" --data-urlencode "query=${2-}" | jq -e "$3" >/dev/null; }
counts() { asked query 'recrawl_crawl_info{crawl="mine"}' '.data.result[]'; }
alert='.data.alerts[] | select(.labels.alertname == "RecrawlHostsInTrouble")'
await 'Prometheus has figures of the crawl' counts
if asked alerts '' "$alert"; then echo "there is an alert while the host answers" >&2; exit 1; fi

bash -c "$stop"
fires() { asked alerts '' "$alert | select(.state == \"firing\")"; }
await 'the alert fires' fires

# What docs/monitoring.md says to do about it.
grep -F '| `RecrawlHostsInTrouble` |' "$root/docs/monitoring.md" | grep -F '`starter hosts NAME`' >/dev/null ||
  { echo "docs/monitoring.md does not say what to do about the alert" >&2; exit 1; }
starter hosts mine | tee hosts
grep -F unreachable hosts >/dev/null || { echo "starter hosts does not say that the host is unreachable" >&2; exit 1; }
echo "told within $SECONDS seconds"
