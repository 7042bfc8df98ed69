#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy serve with a real Prometheus, which scrapes it and evaluates the alert rules. A fake GPU draws 300 W.
# Usage: prometheus.sh KWHY FAKE_NVML_DIR SOURCE_DIR
set -euo pipefail
kwhy=$1
command -v prometheus >/dev/null && command -v promtool >/dev/null || { echo "skipped: Prometheus is not installed"; exit 77; }
place=$(mktemp -d)
server= prometheus=
finish() {
	[ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null || true
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"

export KWHY_FAKE_NVML=$3/tests/fakes/nvml/scenarios/h200_constant_300w.txt
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$place/token"
LD_LIBRARY_PATH=$2 serve --token "$place/token"
cat >"$place/prometheus.yml" <<END
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: [$3/monitoring/prometheus-rules.yml]
scrape_configs:
  - job_name: kwhy
    authorization: {credentials_file: $place/token}
    static_configs: [{targets: ["$address"]}]
END
promtool check config "$place/prometheus.yml" >/dev/null

# Prometheus needs a fixed port. Tries up to five ports from 10000 to 19999, from which the system assigns none by
# itself.
for _ in 1 2 3 4 5; do
	port=$((10000 + RANDOM % 10000))
	prometheus --config.file="$place/prometheus.yml" --storage.tsdb.path="$place/data" --log.level=warn \
		--web.listen-address="127.0.0.1:$port" >"$place/prometheus.log" 2>&1 &
	prometheus=$!
	until promtool query instant "http://127.0.0.1:$port" 'vector(1)' >/dev/null 2>&1; do
		kill -0 "$prometheus" 2>/dev/null || { prometheus=; break; }
		sleep 0.1
	done
	[ -z "$prometheus" ] || break
done
[ -n "$prometheus" ] || { cat "$place/prometheus.log"; exit 1; }

query() {
	promtool query instant "http://127.0.0.1:$port" "$1"
}
fail() {
	echo "$*"
	query up
	query '{job="kwhy"}' | head -50
	cat "$place/prometheus.log" "$place/serve.log"
	exit 1
}
# until_true QUERY: waits until the query has a result, as long as both servers run.
until_true() {
	echo "waiting for: $1"
	until [ -n "$(query "$1")" ]; do
		kill -0 "$prometheus" || fail "Prometheus has ended"
		[ -z "$server" ] || kill -0 "$server" || fail "kwhy serve has ended"
		sleep 0.2
	done
}
until_true 'up{job="kwhy"} == 1'
until_true 'count_over_time(kwhy_device_energy_joules_total[1m]) > 8'
# The exported energy is updated twice a second, so that its rise in 10 s may be off by 5 %: 15 W of 300 W. Prometheus
# extrapolates, too.
until_true 'abs(rate(kwhy_device_energy_joules_total[10s]) - 300) < 30'
until_true 'abs(kwhy_device_power_watts - 300) < 5'
until_true 'kwhy_device_idle_energy_joules_total == 0'
until_true 'count(kwhy_device_throttled) == 9'
until_true 'kwhy_source_available{source="nvml.energy_mj"} == 1'
until_true 'kwhy_source_available{reason!=""} == 0'
until_true 'kwhy_build_info'
until_true 'time() - process_start_time_seconds < 600'
[ -z "$(query 'resets(kwhy_device_energy_joules_total[1m]) > 0')" ] || fail "the energy counter fell"
[ -z "$(query 'ALERTS{alertstate="firing"}')" ] || fail "an alert fires: $(query ALERTS)"
! grep -iE 'level=(warn|error)' "$place/prometheus.log" || fail "Prometheus complains"

stop_serving TERM || fail "kwhy serve ended with $?"
server=
until_true 'up{job="kwhy"} == 0'
