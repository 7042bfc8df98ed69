#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy serve with valid and hostile HTTP requests: valid ones are answered, others refused, and the server
# continues to serve.
# Usage: requests.sh KWHY SOURCE_DIR
set -euo pipefail
kwhy=$1
replay=$2/examples/h200-mix-burst/power.csv
place=$(mktemp -d)
trap '' PIPE
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"
bad=0
complain() {
	echo "$*"
	bad=1
}

# request LINES...: sends them with CRLF and an empty line, prints the answer
request() {
	exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
	printf '%s\r\n' "$@" '' >&3 || true
	cat <&3 || true
	exec 3<&-
}
# expect STATUS LINES...: checks that the answer's status line begins with STATUS
expect() {
	local wanted=$1 got
	shift
	got=$(request "$@" 'Connection: close' 2>/dev/null | head -n 1 || true)
	[[ $got == "HTTP/1.1 $wanted"* ]] || complain "'${1:0:60}' gives '$got', not $wanted"
}
# expect_refused LINES...: checks that a request, one that is too long, gets a status 4xx, or that the server closes the
# connection before all of it has arrived
expect_refused() {
	local got
	got=$(request "$@" 'Connection: close' 2>/dev/null | head -n 1 || true)
	[[ -z $got || $got == 'HTTP/1.1 4'* ]] || complain "'${1:0:60}' gives '$got'"
}
long() {
	head -c "$1" /dev/zero | tr '\0' a
}

serve --power-file "$replay"
# Waits until energy was counted.
until request 'GET /metrics HTTP/1.1' 'Host: localhost' 'Connection: close' | grep -q energy_joules_total; do
	sleep 0.1
done
answer=$(request 'GET /metrics HTTP/1.1' 'Host: localhost' 'Connection: close')
for wanted in 'Content-Type: text/plain; version=0.0.4; charset=utf-8' 'Cache-Control: no-store' '# TYPE kwhy_device_energy_joules_total counter'; do
	grep -qF "$wanted" <<<"$answer" || complain "the answer has no '$wanted'"
done
answer=$(request 'GET /metrics HTTP/1.1' 'Host: localhost' 'Accept: application/openmetrics-text; version=1.0.0' 'Connection: close')
[[ $answer == *'# EOF'* && $answer == *'application/openmetrics-text; version=1.0.0'* ]] || complain "no OpenMetrics"
answer=$(request 'HEAD /metrics HTTP/1.1' 'Host: localhost' 'Connection: close')
[[ $answer == 'HTTP/1.1 200'* && $answer != *kwhy_build_info* ]] || complain "HEAD gives a body, or none of its headers"
expect 200 'GET / HTTP/1.1' 'Host: localhost'
expect 200 'GET /metrics?x=%00&y HTTP/1.1' 'Host: localhost'
expect 404 'GET /metrics/ HTTP/1.1' 'Host: localhost'
expect 404 'GET /../../etc/passwd HTTP/1.1' 'Host: localhost'
expect 404 'GET /%2e%2e%00 HTTP/1.1' 'Host: localhost'
expect 405 'DELETE /metrics HTTP/1.1' 'Host: localhost'
expect 405 'POST /metrics HTTP/1.1' 'Host: localhost' 'Content-Length: 99999999999'
expect 405 'PUT /metrics HTTP/1.1' 'Host: localhost' 'Transfer-Encoding: chunked'
expect 405 'GARBAGE /metrics HTTP/1.1' 'Host: localhost'
expect 400 'GET /metrics HTTP/1.1'
expect_refused "GET /$(long 40000) HTTP/1.1" 'Host: localhost'
expect_refused 'GET /metrics HTTP/1.1' 'Host: localhost' "X: $(long 70000)"
expect 200 'GET /metrics HTTP/1.1' 'Host: localhost' "Accept: $(long 5000),;q=,,"
head -c 5000 /dev/urandom >"$place/noise"
for _ in 1 2 3; do
	request "$(tr -d '\0' <"$place/noise")" >/dev/null 2>&1 || true
done
expect 200 'GET /metrics HTTP/1.1' "Host: $address"
expect 403 'GET /metrics HTTP/1.1' 'Host: rebound.example'
expect 403 'GET / HTTP/1.1' 'Host: rebound.example:9835'
# 81 clients send their requests byte by byte, with pauses. A scrape must be answered meanwhile, and after they have
# gone.
slow=$(seq 10 90)
for fd in $slow; do
	eval "exec $fd<>/dev/tcp/${address%:*}/${address##*:}" 2>/dev/null || complain "client $fd is not let in"
done
for byte in G E T ' ' / m; do
	for fd in $slow; do
		printf %s "$byte" >&"$fd" 2>/dev/null || true
	done
	expect 200 'GET /metrics HTTP/1.1' 'Host: localhost'
done
for fd in $slow; do
	eval "exec $fd>&-" 2>/dev/null || true
done
expect 200 'GET /metrics HTTP/1.1' 'Host: localhost'
stop_serving INT || complain "ended by SIGINT with $?"

echo 0123456789abcdef0123456789abcdef >"$place/token"
chmod 644 "$place/token"
serve --power-file "$replay" --token "$place/token"
grep -q 'everybody on this machine may read it' "$place/serve.log" || complain "a token that all may read is taken without a word"
expect 401 'GET /metrics HTTP/1.1' 'Host: localhost'
expect 401 'GET / HTTP/1.1' 'Host: localhost'
expect 200 'GET /metrics HTTP/1.1' 'Host: gpu01.example' 'Authorization: Bearer 0123456789abcdef0123456789abcdef'
expect 401 'GET /other HTTP/1.1' 'Host: localhost'
expect 401 'GET /metrics HTTP/1.1' 'Host: localhost' 'Authorization: Bearer 0123456789abcdef0123456789abcdeg'
expect 401 'GET /metrics HTTP/1.1' 'Host: localhost' 'Authorization: Bearer '
expect 401 'GET /metrics HTTP/1.1' 'Host: localhost' "Authorization: Bearer $(long 8000)"
expect 200 'GET /metrics HTTP/1.1' 'Host: localhost' 'Authorization: Bearer 0123456789abcdef0123456789abcdef'
stop_serving TERM || complain "ended by SIGTERM with $?"
serve --power-file "$replay" --allow-open
expect 200 'GET /metrics HTTP/1.1' 'Host: gpu01.example'
stop_serving TERM || complain "ended by SIGTERM with $?"
server=

# refused STATUS WORDS ARGUMENTS...: checks that kwhy serve does not start and says why
refused() {
	local status=0
	"$kwhy" serve --power-file "$replay" "${@:3}" >"$place/out" 2>"$place/err" || status=$?
	[ "$status" -eq "$1" ] && [ ! -s "$place/out" ] && grep -qF -- "$2" "$place/err" ||
		complain "${*:3}: status $status, '$(cat "$place/err")'"
}
echo short >"$place/short"
refused 2 '--allow-open' --listen 0.0.0.0:0
refused 2 'is not an address to listen on' --listen nonsense
refused 2 'go together' --listen 127.0.0.1:0 --tls-cert "$place/token"
refused 1 'TLS cannot start' --listen 127.0.0.1:0 --tls-cert "$place/token" --tls-key "$place/token"
refused 1 'at least 16' --listen 127.0.0.1:0 --token "$place/short"
cp "$place/token" "$place/written"
chmod 666 "$place/written"
refused 1 'everybody on this machine may write' --listen 127.0.0.1:0 --token "$place/written"
refused 1 'absent' --listen 127.0.0.1:0 --token "$place/absent"
refused 2 'options alone' extra
refused 2 '--interval' --interval 1

if command -v openssl >/dev/null && command -v curl >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$place/key.pem" -out "$place/cert.pem" -days 2 -subj /CN=kwhy \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	serve --power-file "$replay" --tls-cert "$place/cert.pem" --tls-key "$place/key.pem"
	curl -sS --noproxy '*' --cacert "$place/cert.pem" "https://$address/metrics" | grep -q kwhy_build_info ||
		complain "HTTPS does not work"
	! curl -s --noproxy '*' "http://$address/metrics" | grep -q kwhy_build_info || complain "HTTPS is answered in clear"
	# TLS 1.2 and 1.3 must be accepted, older versions refused: openssl is told to offer one version, and prints a
	# cipher if the handshake succeeds.
	for version in tls1_2 tls1_3; do
		openssl s_client -connect "$address" "-$version" </dev/null 2>&1 | grep -q 'Cipher is [^(]' || complain "$version is refused"
	done
	for version in tls1 tls1_1; do
		! openssl s_client -connect "$address" "-$version" -cipher DEFAULT:@SECLEVEL=0 </dev/null 2>&1 |
			grep -q 'Cipher is [^(]' || complain "$version is accepted"
	done
	stop_serving TERM || complain "ended by SIGTERM with $?"
	server=
else
	echo "skipped: TLS: openssl or curl is not installed"
fi
exit "$bad"
