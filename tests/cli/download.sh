#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy digest of traces that it loads by HTTP or from S3. The digest equals that of the local file; requests to S3
# are signed; a trace that is missing, refused or cut off is reported in one sentence; no temporary file is left behind.
# Usage: download.sh KWHY
set -euo pipefail
kwhy=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
server=
end() {
	[ -z "$server" ] || kill "$server" 2> /dev/null || true
	rm -rf "$folder"
}
trap end EXIT
cd "$folder"
mkdir files tmp
export TMPDIR=$folder/tmp HOME=$folder no_proxy=127.0.0.1
fail() {
	echo "$*"
	exit 1
}
trace='{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":100,"dur":10,"args":{"device":0,"stream":7}}'
for rank in 0 1; do
	{ # long enough that half of it is an incomplete trace
		printf '{"distributedInfo":{"rank":%d,"world_size":2},%s' $rank "${trace#\{}"
		for ((i = 0; i < 200; i++)); do printf ',{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":10,"args":{"device":0,"stream":7}}' $i $((200 + 20 * i)); done
		printf ']}'
	} > files/rank$rank.json
done
gzip -k files/rank0.json
cp files/rank1.json 'files/rank 1+.json'
coproc python3 "$here/download_server.py" files
server=$COPROC_PID
read -r port <&"${COPROC[0]}"
at=http://127.0.0.1:$port
same() { # FOLDER RANK: its digest is that of the file, except for the address
	local name
	name=rank-0000$2.sqlite
	[ "$(sqlite3 "$1/$name" 'SELECT identity FROM digest')" = "$(sqlite3 whole/$name 'SELECT identity FROM digest')" ] || fail "$1: another digest"
}
refuses() { # WORDS ADDRESS
	rm -rf none
	"$kwhy" digest -q -o none "$2" 2> message && fail "$2 is accepted"
	grep -q -- "$1" message || fail "no '$1': $(cat message)"
	[ "$(wc -l < message)" = 2 ] || fail "$(cat message)" # why, and that a trace has no digest
	[ -z "$(find none -type f 2> /dev/null)" ] || fail "$2: a digest of what is not there"
}
"$kwhy" digest -q -o whole files/rank0.json files/rank1.json

"$kwhy" digest -q -o http "$at/rank0.json.gz" "$at/moved/rank1.json?token=secret#part"
for rank in 0 1; do same http $rank; done
[ "$(sqlite3 http/rank-00001.sqlite 'SELECT path FROM source')" = "$at/moved/rank1.json" ] || fail "the address is not in the digest, or what is secret is"
printf '%s\n' "$at/rank0.json.gz" files/rank1.json | "$kwhy" digest -q -o list -
for rank in 0 1; do same list $rank; done

refuses "answers 404; there is no such file" "$at/rank7.json"
refuses "answers 503; try it later" "$at/broken"
refuses "127.0.0.1:$port/cut/rank0.json: .*nothing of it was read" "$at/cut/rank0.json"
refuses "127.0.0.1:$port/chunked/rank0.json: .*nothing of it was read" "$at/chunked/rank0.json"
refuses "127.0.0.1:1/rank0.json: .*connect" "http://127.0.0.1:1/rank0.json"
refuses "elsewhere/rank0.json: Protocol \"ftp\"" "$at/elsewhere/rank0.json"
refuses " http://127.0.0.1:1/rank0.json: " "http://user:pass@word@127.0.0.1:1/rank0.json"
! grep -q word message || fail "a part of the password is shown: $(cat message)"
echo nothing > files/nothing.json
refuses "$at/nothing.json" "$at/nothing.json"
"$kwhy" digest -q -o some "$at/cut/rank0.json" "$at/rank1.json" 2> message && fail "a cut trace is accepted"
same some 1

# No temporary file may be left behind if writing it fails (simulated by a limit on file sizes), or
# if kwhy gets SIGTERM while it loads the trace.
(
	trap '' XFSZ
	ulimit -f 8
	refuses "cannot keep the file: File too large; set TMPDIR" "$at/rank0.json"
)
"$kwhy" digest -q -o none "$at/endless/rank0.json" &
while [ -z "$(find tmp -type f -size +0)" ]; do kill -0 $! || fail "no endless file"; done
kill -TERM $!
wait $! && fail "an endless file ends well"
[ -z "$(ls -A tmp)" ] || fail "a signal leaves behind: $(ls -A tmp)"

# The S3 server of the test computes the signature of each request itself and compares. One key contains a space and a
# plus sign, which have to be encoded.
export AWS_ENDPOINT_URL=$at/ AWS_REGION=eu-north-1
refuses "answers 403; set AWS_ACCESS_KEY_ID" "s3://bucket/traces/rank0.json.gz"
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY AWS_SESSION_TOKEN=a-session
"$kwhy" digest -q -o s3 s3://bucket/traces/rank0.json.gz "s3://bucket/traces/rank 1+.json"
for rank in 0 1; do same s3 $rank; done
grep -q '^/bucket/traces/rank0.json.gz AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/' files/authorizations || fail "$(cat files/authorizations)"
grep -q '^/rank0.json.gz -' files/authorizations || fail "credentials of S3 go to another server: $(cat files/authorizations)"
[ "$(sqlite3 s3/rank-00000.sqlite 'SELECT path FROM source')" = s3://bucket/traces/rank0.json.gz ] || fail "the address is not in the digest"
AWS_SECRET_ACCESS_KEY=wrong refuses "answers 403" "s3://bucket/traces/rank0.json.gz"
"$kwhy" digest -q -o none s3://bucket 2> message && fail "a bucket is accepted"
grep -q 's3://BUCKET/KEY' message || fail "$(cat message)"
refuses "'localhost:1#' is no name of a bucket" "s3://localhost:1#/rank0.json" # which would send the session to localhost
refuses "answers 404" "s3://bucket/traces/../none.json"
grep -q '^/bucket/traces/../none.json AWS4' files/authorizations || fail "another key is asked for: $(cat files/authorizations)"

# Without libcurl, kwhy reports that it is missing.
mkdir without
: > without/libcurl.so.4
cp without/libcurl.so.4 without/libcurl-gnutls.so.4
cp without/libcurl.so.4 without/libcurl-nss.so.4
cp without/libcurl.so.4 without/libcurl.so
LD_LIBRARY_PATH=$folder/without refuses "libcurl" "$at/rank0.json"
[ -z "$(ls -A tmp)" ] || fail "left behind: $(ls -A tmp)"
