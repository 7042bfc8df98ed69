#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is the energy of programs that share a GPU, by `kwhy serve --accounts` and `kwhy job`, against the joules an iteration of each one alone? Four
# programs (programs/share.py), each with a user of its own: first each alone, then two, three and four at once. Ends with a table: joules above idle by
# the accounts, and iterations times the joules of an iteration alone, scaled to the same sum. Needs root, PyTorch and one GPU; two minutes.
# usage: owners.sh KWHY_FOLDER OUT_FOLDER
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
chmod 777 "$work"
cp "$here/programs/share.py" "$work"
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
"$kwhy" serve --listen 127.0.0.1:0 --accounts "$out/accounts.sqlite" --interval 200 > "$out/serve.out" 2> "$out/serve.err" &
serve=$!
trap 'kill "$serve" 2> /dev/null; rm -rf "$work"' EXIT
kinds=(product copy idle train)

# together ROUND KIND...: at once, users ROUND * 10 + number of the kind
together() {
	local round=$1 kind number pids=()
	shift
	for kind in "$@"; do
		for number in 0 1 2 3; do [ "${kinds[$number]}" != "$kind" ] || break; done
		HOME=$work USER=share setpriv --reuid "$((3000 + round * 10 + number))" --regid 3000 --clear-groups \
			"$python" "$work/share.py" "$kind" "${SHARE_S:-12}" "$work/start-$round" "$work/$round-$kind" > "$out/$round-$kind.out" 2>&1 &
		pids+=($!)
	done
	sleep "${PREPARE_S:-9}"
	touch "$work/start-$round"
	wait "${pids[@]}"
	for kind in "$@"; do echo "$round $kind $(cat "$work/$round-$kind" 2> /dev/null || echo none)" >> "$out/iterations.txt"; done
}

together 0 product
together 1 copy
together 2 train
together 3 product train
together 4 product copy train
together 5 product copy idle train
sleep 2
"$kwhy" job --accounts "$out/accounts.sqlite" --by user --json > "$out/jobs.json" 2> "$out/job.err" || "$kwhy" job --help > "$out/job.help" 2>&1
"$kwhy" job --accounts "$out/accounts.sqlite" --by user > "$out/jobs.txt" 2>> "$out/job.err"
kill -TERM "$serve"
wait "$serve" 2> /dev/null
cat "$out/iterations.txt" "$out/jobs.txt"
