#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy serve --otlp with a collector that checks the protocol and refuses the first request. A missing collector
# must not disturb kwhy serve.
# Usage: otlp.sh KWHY FAKE_NVML_DIR SOURCE_DIR
set -euo pipefail
kwhy=$1
command -v node >/dev/null || { echo "skipped: Node.js is not installed"; exit 77; }
ldconfig -p 2>/dev/null | grep 'libcurl.*\.so\.4' >/dev/null || { echo "skipped: libcurl is not installed"; exit 77; }
place=$(mktemp -d)
server= collector=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$collector" ] || kill "$collector" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"
fail() {
	echo "$*"
	cat "$place/serve.log" "$place/collector"
	exit 1
}
node "$(dirname "$0")/otlp_receiver.mjs" >"$place/collector" &
collector=$!
until [ -s "$place/collector" ]; do
	kill -0 "$collector" || fail "the collector has ended"
	sleep 0.05
done
port=$(head -n 1 "$place/collector")
printf 'gpu "NVIDIA H200"\npower constant 300\nprocess %d 100 50\nbusy_percent 50\n' $$ >"$place/gpus"
export OTEL_METRIC_EXPORT_INTERVAL=300 KWHY_FAKE_NVML=$place/gpus OTEL_EXPORTER_OTLP_HEADERS='x-tenant=lab,x-other=a b'
LD_LIBRARY_PATH=$2 serve --otlp "http://127.0.0.1:$port/" --interval 200
until grep -q good "$place/collector"; do
	kill -0 "$server" || fail "kwhy serve has ended"
	! grep wrong "$place/collector" || fail "the collector refuses a request"
	sleep 0.1
done
grep -q 'refuses the figures (HTTP 503)' "$place/serve.log" || fail "the refused request is not reported"
grep -q 'takes figures again' "$place/serve.log" || fail "the end of the failure is not reported"
kill "$collector"
wait "$collector" 2>/dev/null || true
collector=
stop_serving TERM || fail "kwhy serve ended with $?"

LD_LIBRARY_PATH=$2 serve --otlp "http://127.0.0.1:$port"
until grep -q 'does not answer' "$place/serve.log"; do
	kill -0 "$server" || fail "kwhy serve has ended without a collector"
	sleep 0.1
done
stop_serving TERM || fail "kwhy serve ended with $?"
server=
status=0
"$kwhy" serve --listen 127.0.0.1:0 --otlp ftp://nowhere 2>"$place/serve.log" || status=$?
[ "$status" -eq 2 ] && grep -q 'http://collector:4318' "$place/serve.log" || fail "a wrong URL: $status"
