#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy watch in a real terminal, by tmux: what it draws, its keys, a change of the terminal's size, that it
# restores the terminal at its end, and its message if it cannot draw.
# Usage: terminal.sh KWHY FAKE_NVML_DIR SOURCE_DIR
set -euo pipefail
kwhy=$1
scenarios=$3/tests/fakes/nvml/scenarios
place=$(mktemp -d)
terminals=0
bad=0
complain() {
	echo "$*"
	bad=1
}
screen() {
	env -u TMUX SHELL=/bin/sh tmux -u -S "$place/socket$terminals" -f /dev/null "$@"
}
finish() {
	screen kill-server 2>/dev/null || true
	rm -rf "$place"
}
trap finish EXIT

# Leaks of ncurses are ignored: it keeps memory until the end of the program.
printf 'leak:libtinfo\nleak:libncurses\n' >"$place/kept"
export LSAN_OPTIONS="suppressions=$place/kept:print_suppressions=0"

# If standard output is no terminal, kwhy watch prints its figures once, without escape sequences.
export LD_LIBRARY_PATH=$2
KWHY_FAKE_NVML=$scenarios/two_gpus.txt "$kwhy" watch >"$place/once" 2>"$place/err" || complain "watch without a terminal: $?"
[ ! -s "$place/err" ] || complain "on standard error: $(cat "$place/err")"
grep -q '2 GPUs' "$place/once" && grep -qE '^GPU 1  NVIDIA H200 .* W ' "$place/once" || complain "$(cat "$place/once")"
! grep -q "$(printf '\033')" "$place/once" || complain "escape sequences without a terminal"
status=0
KWHY_FAKE_NVML=$scenarios/no_gpu.txt "$kwhy" watch --once >"$place/once" 2>"$place/err" || status=$?
if [ "$status" -eq 0 ]; then # this machine has meters of its own
	grep -q 'shows no GPU' "$place/once" || complain "no word of the GPU: $(cat "$place/once")"
else
	[ "$status" -eq 1 ] && grep -q 'no meter to watch' "$place/err" || complain "status $status, $(cat "$place/err")"
fi

command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; [ "$bad" -ne 0 ] || exit 77; exit 1; }

# until_shown PATTERN: waits for a screen with such a line, as long as kwhy watch runs
until_shown() {
	local ended=no shown
	echo "waiting for: $1"
	until shown=$(screen capture-pane -p) || exit 1 && grep -qE -- "$1" <<<"$shown"; do
		if [ "$ended" = yes ]; then
			complain "never shown: $1"
			echo "$shown"
			return
		fi
		! grep -qE '^ended [0-9]+$' <<<"$shown" || ended=yes
		sleep 0.1
	done
}
until_gone() {
	local shown
	echo "waiting for the end of: $1"
	while shown=$(screen capture-pane -p) || exit 1 && grep -qE -- "$1" <<<"$shown"; do
		sleep 0.1
	done
}
# start COLUMNS LINES ENVIRONMENT...: runs kwhy watch in a shell in a terminal of that size
start() {
	screen kill-server 2>/dev/null || true
	terminals=$((terminals + 1))
	screen new-session -d -x "$1" -y "$2" "trap : INT QUIT; env ${*:3} LSAN_OPTIONS=$LSAN_OPTIONS LD_LIBRARY_PATH=$LD_LIBRARY_PATH '$kwhy' watch; echo ended \$?; exec cat"
}
utf8=$(locale -a 2>/dev/null | grep -iE '^C\.utf-?8$' | head -n 1 || true)

start 80 24 "LC_ALL=${utf8:-C}" KWHY_FAKE_NVML="$scenarios/two_gpus.txt"
until_shown '^ kwhy watch  2 GPUs  4[0-9]+ W now'
until_shown '^GPU 0  NVIDIA H200 +358 W +35[0-9] to 3[56][0-9] of 700 W +[0-9.]+ k?J +[0-9.]+ m?Wh$'
until_shown '^  busy 100 % .* 1980 MHz'
until_shown '^ +4242 +0 '
[ -z "$utf8" ] || until_shown '█'
screen resize-window -x 60 -y 4
until_gone '^GPU 1'
screen send-keys j j j
until_shown '^GPU 1'
screen send-keys g
until_gone '^GPU 1'
screen resize-window -x 40 -y 10
until_shown '^GPU 0  [0-9.]+ W of 700 W  [0-9.]+ k?J'
until_shown '^GPU 1  [0-9.]+ W of 700 W  [0-9.]+ k?J'
screen resize-window -x 120 -y 30
until_shown '^GPU 1'
screen send-keys q
until_shown '^ended 0$'
until_gone 'kwhy watch'

start 80 24 LC_ALL=C KWHY_FAKE_NVML="$scenarios/no_permission.txt"
until_shown 'permission denied; run'
until_shown '/dev/nvidia\*$' # the end of the sentence, on the next line
screen send-keys q
until_shown '^ended 0$'

start 80 24 LC_ALL=C NO_COLOR=1 KWHY_FAKE_NVML="$scenarios/h200_constant_300w.txt"
until_shown '#{3,}'
! screen capture-pane -p -e | grep -q "$(printf '\033')"'\[3[0-7]m' || complain "colours though NO_COLOR is set"
screen send-keys C-c
until_shown '^ended 0$'

start 80 24 LC_ALL=C KWHY_FAKE_NVML="$scenarios/h200_constant_300w.txt"
until_shown '^ kwhy watch  1 GPU'
screen send-keys 'C-\'
until_shown '^ended 0$'
[ "$(screen display-message -p '#{alternate_on}')" = 0 ] || complain "Ctrl-\\ leaves the terminal to the picture"

for term in dumb nonsense; do
	start 80 24 "TERM=$term" KWHY_FAKE_NVML="$scenarios/h200_idle.txt"
	until_shown '^kwhy: th(e|is machine) .*terminal'
	until_shown '^ended 1$'
done
for term in xterm screen vt100; do
	start 80 24 "TERM=$term" LC_ALL=C KWHY_FAKE_NVML="$scenarios/h200_idle.txt"
	until_shown '^ kwhy watch  1 GPU'
	screen send-keys q
	until_shown '^ended 0$'
done
exit "$bad"
