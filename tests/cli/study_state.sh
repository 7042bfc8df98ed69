#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests which steps a study (a list of kwhy commands, whose state is kept in a folder) runs: it continues after it was
# killed; runs a step again if its input, program or driver has changed; says why a step has no result; and refuses the
# folder of another study.
# Usage: study_state.sh KWHY SOURCE_DIR FAKE_NVML_DIR
set -uo pipefail
kwhy=$1
recording=$2/examples/recordings/mix.kwhy
nvml=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}
expect() { # STATUS TEXT FILE
	[ "$status" -eq "$1" ] || fail "status $status instead of $1: $(cat out err)"
	grep -qF -e "$2" "$3" || fail "no '$2' in $3: $(cat "$3")"
}
study() {
	"$kwhy" study "$@" >out 2>err
	status=$?
}

study
expect 0 'transfer-energy' out
study nowhere
expect 2 "there is no study 'nowhere'; 'kwhy study' alone lists them" err
study utilisation "$recording" -- true
expect 2 'give one of the two' err
study utilisation run.kwhy --dry-run
expect 0 'kwhy whatif --plan run.kwhy -o study-utilisation/plan.txt' out
[ ! -e study-utilisation ] || fail "--dry-run made a folder"
"$kwhy" study utilisation 'a b.kwhy' --dry-run | bash -n || fail "no script: $(cat out)"

# If a recording is given, the step that would record one is left out. The study succeeds all the same.
cp "$recording" run.kwhy
study utilisation run.kwhy
expect 0 '4 of 5 steps' out
expect 0 'step 1 of 5, record: a recording was given' err
# The second run keeps the results of all steps, as nothing changed. After that one output is missing: only its step
# runs. Then the input is another recording: all steps that read it run.
study utilisation run.kwhy
[ "$(grep -c kept err)" -eq 4 ] || fail "ran again: $(cat err)"
rm study-utilisation/plan.txt
study utilisation run.kwhy
[ "$(grep -c kept err)" -eq 3 ] || fail "kept a step without its output: $(cat err)"
expect 0 'step 4 of 5, plan: done' err
cp "$2/examples/recordings/transfer.kwhy" run.kwhy
study utilisation run.kwhy
[ "$(grep -c kept err)" -eq 1 ] || fail "kept what read another recording: $(cat err)"
expect 0 'step 5 of 5, machine: kept' err
# The folder is accepted only with the options with which it was made.
study utilisation other.kwhy
expect 2 "holds the study 'utilisation run.kwhy', not 'utilisation other.kwhy'" err
study pairs -o study-utilisation
expect 2 'name another folder by -o' err
echo '{' >study-utilisation/study.json
study utilisation run.kwhy
expect 1 'study.json is no state of a study' err

# If a step's input is missing, or if it needs a GPU and there is none, the study runs its other steps, says what is
# missing, and fails.
study utilisation missing.kwhy -o missing
expect 1 '1 of 5 steps' out
expect 1 'it needs missing.kwhy, which is missing' err
grep -qF 'Not measured: it needs missing.kwhy, which is missing.' missing/study.html || fail "the page says: $(cat missing/study.html)"
if ! ldconfig -p | grep libcuda.so.1 >/dev/null; then
	study transfers -o without
	expect 1 '2 of 4 steps' out
	grep -q 'Not measured: .*--backend host needs no GPU' without/study.html || fail "the page says: $(cat without/study.html)"
	study transfers -o without
	expect 1 'step 3 of 4, program: kept' err
fi

# Files in the output folder of a step that has not succeeded are not used by later steps.
mkdir -p left
echo 'no samples' >left/samples
study transfers --backend host --quick -o left
expect 1 'step 2 of 4, charts: it needs left/samples, which an earlier step did not finish' err
expect 1 '2 of 4 steps' out

# A step that this recording cannot serve (too short, or no tokens in it) is left out, and the study succeeds. A file
# that is no recording makes it fail.
study llm-energy "$recording" --quick -o short
expect 0 '1 of 5 steps' out
expect 0 'step 3 of 5, tokens: ' err
expect 0 'tokens are not known; give them, those of a recording by --work tokens=N' err
expect 0 'a power model needs 24 windows of 1 s' err
grep -qF 'Not measured: a power model needs 24 windows' short/study.html || fail "the page says: $(cat short/study.html)"
echo none >cut.kwhy
study llm-energy cut.kwhy --quick -o cut
expect 1 '0 of 5 steps' out

# Names must not be read as markup of the page or as syntax of the shell.
cp "$recording" '<b>&.kwhy'
study utilisation '<b>&.kwhy' -o marks
grep -qF '&lt;b&gt;&amp;.kwhy' marks/study.html || fail "the page says: $(cat marks/study.html)"
if grep -qF '<b>&.kwhy' marks/study.html; then
	fail "a name became a mark"
fi

# The files that the program's command line names are inputs: when program.py has changed, the program runs again.
printf 'print(1)\n' >program.py
study utilisation -o program -- python3 program.py
grep -qx 1 out || fail "the program's output is not shown: $(cat out)"
printf 'print(22)\n' >program.py
study utilisation -o program -- python3 program.py
grep -qx 22 out || fail "the changed program was not run: $(cat out)"

# A text that is too large for the page is left out of it; the page is still made.
study utilisation run.kwhy -o large
expect 0 '4 of 5 steps' out
head -c 5000000 /dev/zero | tr '\0' x >large/plan.txt
study utilisation run.kwhy -o large
expect 0 '4 of 5 steps' out
grep -qF 'Its text has 4 MiB, too much for this page.' large/study.html || fail "no word of the large text"
grep -qF '<a href="plan.txt">plan.txt</a>' large/study.html || fail "no link to the large text"

# With another driver, everything that was measured with the previous one is measured again.
printf 'driver 550.1\ngpu X\n' >gpus
old() { LD_LIBRARY_PATH=$nvml KWHY_FAKE_NVML=$PWD/gpus study utilisation run.kwhy -o driver; }
old
expect 0 'step 5 of 5, machine: done' err
old
expect 0 'step 5 of 5, machine: kept' err
printf 'driver 560.2\ngpu X\n' >gpus
old
expect 0 'step 5 of 5, machine: done' err

# begin_and_interrupt FILE: starts the study and sends SIGINT in its first measurement, once samples are saved and
# killed/FILE exists. The same command then continues with these samples. set -m is needed because bash otherwise starts
# background jobs with SIGINT ignored.
begin_and_interrupt() { # WHAT_ITS_FOLDER_HAS_BY_THEN
	set -m
	"$kwhy" study transfers --backend host --quick -q -o killed >/dev/null 2>&1 &
	killed=$!
	set +m
	until [ -e "killed/$1" ] && [ -s killed/samples/samples.csv ] || ! kill -0 $killed 2>/dev/null; do :; done
	kill -INT $killed
	wait $killed
	[ $? -eq 1 ] || fail "an interrupted study succeeded"
	[ ! -e killed/study.html ] || fail "an interrupted study has a page"
}
begin_and_interrupt samples
study transfers --backend host --quick -o killed
expect 0 '4 of 4 steps' out
grep -qF 'step 1 of 4, sweep: done' err || fail "it did not go on: $(cat err)"
[ ! -e killed/samples.old-1 ] || fail "it began anew: $(cat err)"

# Samples that another version of kwhy saved, in a finished step or in an interrupted one, are not continued. They are
# kept under another name, and the measurement begins again.
rm killed/study.html
sed -i 's/"stamp": "./"stamp": "x/' killed/study.json
begin_and_interrupt samples.old-1
[ -s killed/samples.old-1/samples.csv ] || fail "finished samples of another version were gone on with"
sed -i 's/"begun": "./"begun": "x/' killed/study.json
begin_and_interrupt samples.old-2
[ -s killed/samples.old-2/samples.csv ] || fail "samples of another version were gone on with"
exit 0
