#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that nothing is marked as unfinished, that no file has a name that says nothing, that every source states its
# licence, and that no file has a path of one machine.
# Usage: words.sh SOURCE_DIR
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
cd "$1"
self=tests/project/words.sh

bad=0
# complain_of TITLE LINES: fails and shows the lines, if there are any
complain_of() {
	[ -n "$2" ] || return 0
	printf '%s:\n%s\n' "$1" "$2"
	bad=1
}

places=()
for place in src lab include tests bench bindings web/src scripts cmake examples docs profiles completions packaging monitoring .ci \
	CMakeLists.txt Makefile README.md ARCHITECTURE.md CONTRIBUTING.md; do
	[ ! -e "$place" ] || places+=("$place")
done
parts=(src lab tests bench scripts)

# grep that succeeds if it finds nothing, and leaves out this file, which must contain the words.
find_words() {
	grep -rnI --exclude="$(basename $self)" "$@" "${places[@]}" || [ $? -eq 1 ]
}
sources() {
	find "${parts[@]}" -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -path 'scripts/*' -type f
}

complain_of "unfinished marks" "$(find_words -wE 'TODO|FIXME|XXX|HACK')"
complain_of "unfinished parts" "$(find_words -wiE 'stub|not implemented|unimplemented|placeholder')"
complain_of "files without a subject" \
	"$(find "${parts[@]}" -iname 'utils*' -o -iname 'misc*' -o -iname 'common*' -o -iname 'helpers*')"
complain_of "no licence line" "$(sources | xargs grep -LF 'SPDX-License-Identifier: Apache-2.0' || [ $? -eq 1 ])"
complain_of "paths of one machine" "$(find_words -E '(^|[^A-Za-z0-9_.$}])/(work|home|root)/')"
# The user who starts a setuid program controls its environment.
complain_of "getenv() where secure_getenv() belongs" "$(grep -rnE '(^|[^_a-z])getenv\(' src || [ $? -eq 1 ])"
# Vendor libraries read the environment on other threads. Variables for commands are set through launch/environment.h.
# A child that samples counters has no other thread, and changes its own.
complain_of "our own environment is changed" "$(find_words --include='*.c' --include='*.cc' -wE '(set|unset|put)env' |
	grep '^src/' | grep -vE '^src/(watch/terminal_kind|record/counters_process)\.c:' || [ $? -eq 1 ])"
# Meters are chosen by their rows in model/meters.def. Only back ends, the self-test of NVML's meters and the table of
# other tools' readings name a particular meter.
complain_of "a meter is chosen by its name" "$(find_words -E 'KWHY_METER_(NVML|ROCM|RAPL|HWMON|WALL)' |
	grep '^src/' | grep -vE '^src/(sensor/|bench/calibration/|import/power/assign\.c:)' || [ $? -eq 1 ])"
# Denied words, and tags with two meanings.
[ ! -e docs/terms.md ] || python3 "$checks/vocabulary.py" . || bad=1
exit "$bad"
