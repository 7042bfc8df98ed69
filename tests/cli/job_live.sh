#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy record --digest. While ranks run, each rewrites its digest again and again, as a whole, so that kwhy report
# can read it at any time. The last digest is written at the end of the program, also after SIGTERM; the recording is
# then removed. After kill -9 the digest written last is still complete.
# Usage: job_live.sh KWHY INJECT_LIBRARY FAKE_CUPTI FAKE_CUDA_DIR FAKE_PROGRAM FAKE_NVML_DIR
set -euo pipefail
kwhy=$1
export KWHY_INJECT=$2 KWHY_CUPTI=$3 LD_LIBRARY_PATH=$4:$6
program=$5
folder=$(mktemp -d)
started=()
end() {
	kill -9 "${started[@]/#/-}" 2> /dev/null || true
	rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' TERM INT
cd "$folder"
mkdir spool
export TMPDIR=$folder/spool
for device in 0 1; do # the UUIDs of the fake CUDA's devices
	printf 'gpu "NVIDIA H200"\nuuid GPU-0%d1%d2%d3%d-4%d5%d-6%d7%d-8%d9%d-a%db%dc%dd%de%df%d\npower constant %d00\n' $device{,,,,,,,,,,,,,,,} $((device + 2))
done > meters.txt
export KWHY_FAKE_NVML=$folder/meters.txt KWHY_FAKE_CUDA_DEVICES=2
fail() {
	echo "$*"
	cat messages* 2> /dev/null
	exit 1
}
same() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got $2, wanted $3"
}
ask() { sqlite3 -separator ' ' "$@" 2> /dev/null || echo 0; }
of() { # FOLDER EXPRESSION: prints a value of the report on the folder's digests
	"$kwhy" report --json "$1" | python3 -c 'import json, sys; print(eval(sys.argv[1], {"job": json.load(sys.stdin)}))' "$2"
}
kernels="SELECT coalesce(sum(count), 0) FROM account WHERE category = 'compute'"
has_more() { # DIGEST COUNT: whether the digest has more kernels
	[ -e "$1" ] && [ "$(ask "$1" "$kernels")" -gt "$2" ]
}
wait_for() { # COMMAND...: waits until it succeeds
	until "$@"; do sleep 0.05; done
}
begin() { # RANK FOLDER WORK...: a rank of a launcher; it uses one device, and sees the meters of both
	RANK=$1 WORLD_SIZE=2 setsid "$kwhy" record -q --digest "$2" --digest-every 1 -- "$program" cuda "device:$1" "${@:3}" 2> "messages$1" &
	started[$1]=$!
}
first=live/rank-00000.sqlite second=live/rank-00001.sqlite

# Two ranks run, each on one device, until they get SIGTERM. Newer digests replace older ones. The recording of each
# rank has meter readings of both devices, but the energy of a device is counted in one rank only.
begin 0 live loop:600000
begin 1 live loop:600000
wait_for has_more $first 20
early=$(ask $first "$kernels")
wait_for has_more $first "$early"
wait_for has_more $second 20
same "ranks while they run" "$(of live 'job["ranks"], job["sums"]["ranks_with_energy"], job["unused_devices"], job["running"], job["problems"]')" "(2, 2, 0, 2, [])"
same "recordings" "$(find spool -maxdepth 1 -name "kwhy-record-*" | wc -l)" 2
early=$(ask $first "$kernels")
kill -TERM "${started[@]}"
for rank in 0 1; do
	wait "${started[$rank]}" && fail "SIGTERM, and status 0" || same "status" $? 143
done
same "what is left" "$(ls -A spool)" ""
same "ranks" "$(of live 'job["ranks"], job["running"], job["problems"]')" "(2, 0, [])"
[ "$(ask $first "$kernels")" -gt "$early" ] || fail "no digest of the end"
[ "$(stat -c %s $first)" -le 100000 ] || fail "a digest of $(stat -c %s $first) bytes"

# The program ignores SIGTERM. kwhy gets SIGTERM before the first minute, the default of --digest-every, is over: it
# writes the digest at once. Then all processes are killed with SIGKILL: the digest stays complete, and the recording
# can still be read.
ignoring="trap '' TERM; exec \"$program\" cuda loop:600000"
RANK=0 WORLD_SIZE=1 setsid "$kwhy" record -q --digest deaf -- bash -c "$ignoring" 2> messages0 &
started=($!)
is_recorded() {
	"$kwhy" digest -q --replace -o seen spool/kwhy-record-* 2> /dev/null
	has_more seen/rank-00000.sqlite 20
}
wait_for is_recorded
[ ! -e deaf/rank-00000.sqlite ] || fail "a digest before the minute has passed"
kill -TERM "${started[0]}"
wait_for has_more deaf/rank-00000.sqlite 20
kill -9 "-${started[0]}"
wait "${started[0]}" || same "status" $? 137
same "integrity" "$(ask deaf/rank-00000.sqlite 'PRAGMA integrity_check')" ok
same "ranks" "$(of deaf 'job["ranks"], job["unused_devices"], job["running"], job["problems"]')" "(1, 1, 2, [])"
is_recorded || fail "the recording cannot be read"
rm -r spool/*

# Two ranks run on device 0, which draws 200 W. Its energy is counted once in the job and is divided between the ranks.
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$kwhy" record -q --digest shared -- "$program" cuda device:0 loop:1500 2> "messages$rank" &
	started[$rank]=$!
done
for rank in 0 1; do wait "${started[$rank]}" || fail "rank $rank: $?"; done
started=()
same "ranks that share a device" "$(of shared 'job["sums"]["ranks_with_shared_devices"], job["ranks"], job["unused_devices"]')" "(2, 2, 1)"
wholes=$(for rank in 0 1; do ask shared/rank-0000$rank.sqlite 'SELECT measured_nj FROM device'; done | paste -sd,)
same "energy that counts once" "$("$kwhy" report --csv ranks shared | python3 -c '
import csv, sys
parts = [int(row["measured_nj"]) for row in csv.DictReader(sys.stdin) if row["rank"]]
wholes = [int(whole) for whole in sys.argv[1].split(",")]
print(len(parts) == 2 and max(wholes) * 0.98 <= sum(parts) < 0.95 * sum(wholes) and min(parts) > 0 or (parts, wholes))' "$wholes")" True

# One kwhy record runs four ranks that share a device. Its one digest is for all four, so the report must not say that
# ranks are missing.
"$kwhy" record -q --digest merged -- bash -c "for rank in 0 1 2 3; do RANK=\$rank WORLD_SIZE=4 \"$program\" cuda device:0 launch:50 & done; wait" 2> messages0
same "digests" "$(find merged -name 'rank-*' | wc -l)" 1
same "kernels" "$(ask merged/rank-*.sqlite "$kernels")" 200
same "ranks" "$(of merged 'job["ranks"], job["merged_ranks"], job["world_size"], job["problems"]')" "(1, 3, 4, [])"
"$kwhy" report merged | grep -q '^1 of 4 ranks' || fail "$("$kwhy" report merged)"

# With -o, kwhy keeps the recording next to the digest. A second run with the same options replaces both.
for work in 30 50; do
	RANK=3 WORLD_SIZE=4 "$kwhy" record -q -o kept --digest both -- "$program" cuda launch:$work
	same "kernels" "$(ask both/rank-00003.sqlite "$kernels")" $work
done
"$kwhy" digest -q -o again kept
same "identity" "$(ask both/rank-00003.sqlite 'SELECT identity FROM digest')" "$(ask again/rank-00003.sqlite 'SELECT identity FROM digest')"
same "files" "$(find both -name 'rank-*' | wc -l)" 1
same "what is left" "$(ls -A spool)" ""

# If the digest cannot be written, a message says so, and the recording is kept.
"$kwhy" record -q --digest full -- bash -c "\"$program\" cuda launch:9; rmdir full; : > full" 2> messages0 || fail "not the command's status"
grep -q 'the recording is kept in .*spool/kwhy-record-' messages0 || fail "no word of the recording"
"$kwhy" verify spool/kwhy-record-* > verified || fail "$(cat verified)"
"$kwhy" record --digest-every 5 -- true 2> messages0 && fail "--digest-every without --digest"
grep -q 'goes with --digest' messages0 || fail "no reason"
