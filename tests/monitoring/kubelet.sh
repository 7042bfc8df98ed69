#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy serve with a fake kubelet that says which pods hold which GPUs. kwhy serve must find the names of pods
# there, give the energy of a GPU without processes to the pod that holds it, and continue if there is no kubelet, or if
# it answers wrongly or not at all.
# Usage: kubelet.sh KWHY FAKE_NVML_DIR
set -euo pipefail
kwhy=$1
command -v node >/dev/null || { echo "skipped: Node.js is not installed"; exit 77; }
curl --version 2>/dev/null | grep HTTP2 >/dev/null || { echo "skipped: curl with HTTP/2 is not installed"; exit 77; }
ldconfig -p 2>/dev/null | grep 'libcurl.*\.so\.4' >/dev/null || { echo "skipped: libcurl is not installed"; exit 77; }
place=$(mktemp -d)
server= kubelet=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$kubelet" ] || kill "$kubelet" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"
fail() {
	echo "$*"
	cat "$place/serve.log" "$place/kubelet"
	grep owner "$place/metrics" || true
	exit 1
}
socket=$place/root/var/lib/kubelet/pod-resources/kubelet.sock
begin_kubelet() {
	: >"$place/kubelet"
	node "$(dirname "$0")/fake_kubelet.mjs" "$socket" "$place/mode" >"$place/kubelet" 2>&1 &
	kubelet=$!
	until grep -q listening "$place/kubelet"; do
		kill -0 "$kubelet" || fail "the kubelet has ended"
		sleep 0.05
	done
}
# process PID: makes a process whose cgroup states a container and the uid of its pod, but not the pod's name
process() {
	mkdir -p "$place/root/proc/$1"
	echo "0::/kubepods/pod6c7f0a2e-1b7d-4a4e-9a51-0000000000$1/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd$1" >"$place/root/proc/$1/cgroup"
	printf 'Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n' >"$place/root/proc/$1/status"
	echo "$1 (python) S 1 1 1 0 -1 0 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1" >"$place/root/proc/$1/stat"
}
mkdir -p "${socket%/*}" "$place/root/etc"
echo 'alice:x:1000:1000::/:/bin/sh' >"$place/root/etc/passwd"
: >"$place/metrics"
for pid in 10 20; do process $pid; done
{
	printf 'gpu "NVIDIA H200"\npower constant %d\n' 300 100 200
	printf 'gpu "NVIDIA H200"\npower constant 180\nmig "NVIDIA H200 MIG 1g.18gb" MIG-11111111-0000-5000-8000-000000000001 16 16384\n'
	printf 'mig "NVIDIA H200 MIG 3g.71gb" MIG-11111111-0000-5000-8000-000000000002 60 71168\ngpu "NVIDIA H200"\npower constant 150\n'
} >"$place/gpus"
printf '%s\n' '0 10 100 60' '2 20 100 30' >"$place/processes"
export KWHY_FAKE_NVML=$place/gpus KWHY_FAKE_NVML_PROCESSES=$place/processes
start() {
	LD_LIBRARY_PATH=$2 serve --root "$place/root" --interval 200
}
read_metrics() {
	curl -s "http://$address/metrics" >"$place/metrics"
}
# until_owner LABELS: waits until kwhy serve exports energy of an owner with these labels
until_owner() {
	until read_metrics && grep -E "^kwhy_owner_energy_joules_total\{$1.*\} [0-9.]*[1-9]" "$place/metrics" >/dev/null; do
		kill -0 "$server" || fail "kwhy serve has ended"
		sleep 0.2
	done
}
stop() {
	stop_serving TERM || fail "kwhy serve ended with $?"
	server=
}

start "$@" # without a kubelet
until_owner 'kind="idle".*device="1"'
! grep -q kubelet "$place/serve.log" || fail "a machine without a kubelet hears of it"
grep -q 'kind="kubernetes",name="6c7f0a2e-1b7d-4a4e-9a51-000000000010"' "$place/metrics" || fail "a pod without a name"
stop

echo list >"$place/mode"
begin_kubelet
start "$@"
until_owner 'kind="kubernetes",name="train-0",part="main",namespace="research",user="alice",device="0"'
until_owner 'kind="kubernetes",name="held-0",part="main",namespace="batch",device="1"'
until_owner 'kind="kubernetes",name="held-1",part="main",namespace="batch",device="3"'
until_owner 'kind="kubernetes",name="google-0",part="main",namespace="cloud",device="4"'
# Two pods share GPU 2. The kubelet's answer does not show to which of them the process belongs, so its owner is named
# by the pod's uid.
until_owner 'kind="kubernetes",name="6c7f0a2e-1b7d-4a4e-9a51-000000000020",[^}]*device="2"'
! grep -qE 'kind="idle"|turn-|no-gpu|na"' "$place/metrics" || fail "owners that hold nothing"
printf '%s\n' '2 20 100 30' >"$place/processes" # train-0 has ended its process and still holds its GPU, and is one owner
idle() { sed -nE 's/^kwhy_owner_idle_energy_joules_total\{kind="kubernetes",name="train-0".* ([0-9.]+)$/\1/p' "$place/metrics"; }
until [ -n "$(idle)" ] && [ "$(idle)" != 0 ]; do read_metrics; sleep 0.2; done
[ "$(grep -c '^kwhy_owner_energy_joules_total{.*name="train-0"' "$place/metrics")" = 1 ] || fail "a pod is two owners"
[ ! -s <(grep wrong "$place/kubelet") ] || fail "a wrong request"
stop

# wrong MODE WORDS ARGUMENTS...: checks that kwhy serve, with a kubelet that fails in this mode, reports that once in
# these words and continues to serve
wrong() {
	echo "$1" >"$place/mode"
	start "${@:3}"
	until grep -qF "kubelet.sock: the kubelet does not say which pods hold which GPUs: $2" "$place/serve.log"; do
		kill -0 "$server" || fail "kwhy serve has ended"
		read_metrics
		sleep 0.2
	done
	until_owner 'kind="idle".*device="1"'
	[ "$(grep -c 'kubelet does not say' "$place/serve.log")" = 1 ] || fail "$1 is said more than once"
}
while IFS=: read -r mode words; do
	wrong "$mode" "$words" "$@"
	[ "$mode" = hang ] || stop
done <<END
status:it answers with gRPC's status 8
no_status:its answer is cut off
http:it answers with HTTP 404
garbage:it is not a list of pods
cut:
hang:Timeout
END
echo list >"$place/mode" # after the kubelet that hung, one that answers
until_owner 'kind="kubernetes",name="held-0"'
grep -q 'the kubelet says again' "$place/serve.log" || fail "the end of the failure is not said"
stop
kill "$kubelet"
wait "$kubelet" 2>/dev/null || true
kubelet=
rm -f "$socket"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$socket" # nobody listens
wrong list '' "$@"
stop
rm -f "$socket"
begin_kubelet
echo empty >"$place/mode"
start "$@"
until_owner 'kind="idle".*device="1"'
! grep -q kubelet "$place/serve.log" || fail "an empty list is an error"
stop
