#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that every metric that the dashboards, the alert rules and docs/formats/metrics.md name is one that kwhy serve
# exports, that docs/formats/metrics.md names all of these, and that promtool accepts metrics and rules.
# Usage: files.sh SOURCE_DIR
set -euo pipefail
cd "$1"
bad=0
complain() {
	echo "$*"
	bad=1
}

metrics=tests/golden/metrics.prometheus.golden # metrics of a machine with every kind of meter
served=$(grep -oE '^[a-z_]+' "$metrics" | sort -u)
[ -n "$served" ] || complain "$metrics has no metrics"

# named FILE: prints the metrics that the file names. Names with a colon are left out: they are of series that the
# recording rules define.
named() {
	grep -oE '(^|[^a-z_:])(kwhy|process)_[a-z_]+[a-z]([^a-z_:]|$)' "$1" | grep -oE '(kwhy|process)_[a-z_]+[a-z]' | sort -u
}
for file in monitoring/grafana-*.json monitoring/prometheus-rules.yml docs/formats/metrics.md; do
	unknown=$(comm -23 <(named "$file") <(printf '%s\n' "$served"))
	[ -z "$unknown" ] || complain "$file names metrics that are not served: $unknown"
	[ "$(named "$file" | wc -l)" -gt 5 ] || complain "$file names hardly any metric"
done
missing=$(comm -13 <(named docs/formats/metrics.md) <(printf '%s\n' "$served"))
[ -z "$missing" ] || complain "docs/formats/metrics.md does not name: $missing"
for alert in $(sed -n 's/.*- alert: //p' monitoring/prometheus-rules.yml); do
	grep -q "\`$alert\`" docs/monitoring.md || complain "docs/monitoring.md does not explain $alert"
done

if command -v python3 >/dev/null; then
	for file in monitoring/grafana-*.json; do
		python3 -m json.tool "$file" >/dev/null || complain "$file is not JSON"
	done
else
	echo "skipped: whether the dashboard is JSON: python3 is not installed"
fi
[ "$bad" -eq 0 ] || exit 1
command -v promtool >/dev/null || { echo "skipped: promtool is not installed"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
promtool check metrics <"$metrics" || complain "promtool finds fault with the metrics"
promtool check rules --lint=all monitoring/prometheus-rules.yml || complain "promtool finds fault with the rules"
for file in rules rules_days; do
	sed "s|RULES|$PWD/monitoring/prometheus-rules.yml|" "tests/monitoring/${file}_test.yml" >"$place/$file.yml"
	promtool test rules "$place/$file.yml" || complain "$file: a rule fires where it should not, or does not where it should"
done
exit "$bad"
