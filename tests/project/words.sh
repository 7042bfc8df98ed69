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

# Prints the lines that match, as grep does, but succeeds if there are none. Leaves out this file, which contains the
# patterns itself.
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
# libkwhy may be used by a setuid program, whose environment is set by the user who starts it.
complain_of "getenv() where secure_getenv() belongs" "$(grep -rnE '(^|[^_a-z])getenv\(' src || [ $? -eq 1 ])"
# No code may change the environment of its own process, as vendor libraries may read it on other threads at the same
# time. Variables for a started command are set by launch/environment.h. Exceptions: counters_process.c, whose process
# has no other thread, and terminal_kind.c.
complain_of "our own environment is changed" "$(find_words --include='*.c' --include='*.cc' -wE '(set|unset|put)env' |
	grep '^src/' | grep -vE '^src/(watch/terminal_kind|record/counters_process)\.c:' || [ $? -eq 1 ])"
# A meter's properties are in its row of model/meters.def. A particular meter may be named only by back ends, by the
# calibration of NVML's meters, and by the table that assigns other tools' readings.
complain_of "a meter is chosen by its name" "$(find_words -E 'KWHY_METER_(NVML|ROCM|RAPL|HWMON|WALL)' |
	grep '^src/' | grep -vE '^src/(sensor/|bench/calibration/|import/power/assign\.c:)' || [ $? -eq 1 ])"
# Words that docs/terms.md denies, and struct tags that two headers define.
[ ! -e docs/terms.md ] || python3 "$checks/vocabulary.py" . || bad=1
exit "$bad"
