#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kwhy digest --running reads a recording section by section while its program runs. Once all is read, its sums are those
# of a digest of the whole recording; energies of accounts are fitted section by section, and their sum is measured.
# Usage: digest_running.sh KWHY INJECT_LIBRARY FAKE_CUPTI FAKE_CUDA_DIR FAKE_PROGRAM FAKE_NVML_DIR
set -euo pipefail
kwhy=$1
export KWHY_INJECT=$2 KWHY_CUPTI=$3 LD_LIBRARY_PATH=$4:$6
program=$5
folder=$(mktemp -d)
started=
end() {
	[ -z "$started" ] || kill -9 "-$started" 2> /dev/null || true
	rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' TERM INT
cd "$folder"
for device in 0 1; do # the UUIDs of the fake CUDA's devices
	printf 'gpu "NVIDIA H200"\nuuid GPU-0%d1%d2%d3%d-4%d5%d-6%d7%d-8%d9%d-a%db%dc%dd%de%df%d\npower constant %d0\n' $device{,,,,,,,,,,,,,,,} $((device + 6))
done > meters.txt
export KWHY_FAKE_NVML=$folder/meters.txt KWHY_FAKE_CUDA_DEVICES=2
fail() {
	echo "$*"
	exit 1
}
same() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got $2, wanted $3"
}
ask() { sqlite3 -separator ' ' "$@"; }
ran="category IN ('compute', 'collective', 'copy', 'memset')"
kernels() { ask "$1" "SELECT coalesce(sum(count), 0) FROM account WHERE $ran"; }
digest() { "$kwhy" digest -q --running -o running rec; }

RANK=0 WORLD_SIZE=1 setsid "$kwhy" record -q -o rec -- "$program" cuda device:0 copy:5 loop:600000 2> messages &
started=$!
until [ -e rec/meters.blocks ]; do sleep 0.05; done
known=0
for section in 1 2 3; do # each has something new
	until digest 2> failed && [ -e running/rank-00000.sqlite ] && [ "$(kernels running/rank-00000.sqlite)" -gt "$known" ]; do sleep 0.1; done
	known=$(kernels running/rank-00000.sqlite)
	same "what it is of" "$(ask running/rank-00000.sqlite "SELECT what FROM lost WHERE what IN ('running', 'truncated')")" running
	mkdir rec/digested.new # a digest that was killed while it was made
	: > rec/digested.new/rank-00000.sqlite
done
kill -TERM "$started"
wait "$started" && fail "SIGTERM, and status 0" || same "status" $? 143
started=
for section in last rest; do digest || fail "$section: $?"; done
"$kwhy" digest -q -o whole rec
same "files" "$(ls running | wc -l)" "$(ls whole | wc -l)"
compare() { # WHAT QUERY
	same "$1" "$(ask running/rank-00000.sqlite "$2")" "$(ask whole/rank-00000.sqlite "$2")"
}
compare "accounts" "SELECT category, name, count, bytes, time_ns FROM account WHERE $ran ORDER BY 1, 2"
compare "devices" "SELECT last_ns - first_ns, span_ns, busy_ns, idle_ns, compute_ns, unrecorded_ns, kernels FROM device"
compare "categories" "SELECT category, span_ns FROM category WHERE $ran ORDER BY 1"
compare "idle time" "SELECT sum(span_ns) FROM category WHERE NOT $ran"
compare "copies" "SELECT direction, size_class, count, bytes, total_ns FROM copy ORDER BY 1, 2"
compare "calls" "SELECT name, count, total_ns FROM api ORDER BY 1"
same "energy" "$(ask running/rank-00000.sqlite "
	ATTACH 'whole/rank-00000.sqlite' AS whole;
	SELECT sum(gross_nj) = (SELECT measured_nj FROM device),
		abs(1.0 * (SELECT measured_nj FROM device) / (SELECT metered_ns FROM device)
			* (SELECT metered_ns FROM whole.device) / (SELECT measured_nj FROM whole.device) - 1) < 0.001
	FROM account")" "1 1"
same "unused device" "$(ls running | grep -c device-)" 1

# Another recording at the path, and a third one: nothing of what was noted is in the way.
for work in 3 4; do
	"$kwhy" record -q -o rec -- "$program" cuda launch:$work
	"$kwhy" digest -q --running -o other rec
done
same "kernels" "$(ask other/trace-*.sqlite "SELECT sum(kernels) FROM device")" 4
chmod a-w rec
[ -w rec ] || "$kwhy" digest -q --running -o elsewhere rec || fail "a recording that cannot be written to"
chmod u+w rec
