#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the steps of the GitHub action and the script of the GitLab job. Runs them in a sample repository, as the runners
# of GitHub and GitLab would, on runs for which they must pass, fail by a condition, or fail because runs are missing.
# Usage: ci.sh KWHY SOURCE_DIR
set -euo pipefail
kwhy=$1
action=$2/monitoring/ci/action.yml
gitlab=$2/monitoring/ci/gitlab-ci.yml
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/repository/results of runs"
cd "$place/repository"

# recording FILE STEP_MS: writes a recording of four steps of STEP_MS ms, each with one kernel of 90 ms
recording() {
	{
		echo "# clock other hand-made"
		echo "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block"
		for i in 0 1 2 3; do
			echo "range,ProfilerStep#$i,,,$((i * $2 * 1000000)),$(((i + 1) * $2 * 1000000)),,,"
			echo "kernel,gemm,0,7,$((i * $2 * 1000000)),$(((i * $2 + 90) * 1000000)),,132,128"
		done
	} >"$1"
}
for run in 0 1 2; do
	recording "results of runs/main-$run.csv" $((100 + run))
	recording "results of runs/same-$run.csv" $((100 + run))
	recording "results of runs/slow-$run.csv" $((120 + run))
done

fail() {
	echo "$*"
	cat "$place"/step.log 2>/dev/null || true
	exit 1
}

# script_of STEP_NAME: prints the shell script of this step of the action
script_of() {
	awk -v name="    - name: $1" '
		$0 == name { step = 1; next }
		/^    - name: / { step = 0 }
		step && /^      run: \|$/ { script = 1; next }
		step && script { sub(/^        /, ""); print }' "$action"
}

# environment_of STEP_NAME: exports the variables that the step sets from the action's inputs, as the runner would
declare -A inputs
environment_of() {
	local variable value
	while read -r variable value; do
		case $value in
		inputs.*)
			[ -n "${inputs[${value#inputs.}]+set}" ] || fail "$variable is of no input: $value"
			export "$variable=${inputs[${value#inputs.}]}"
			;;
		steps.compare.outputs.*) export "$variable=$(sed -n "s/^${value##*.}=//p" "$GITHUB_OUTPUT")" ;;
		*) fail "$variable is of nothing known: $value" ;;
		esac
	done < <(awk -v name="    - name: $1" '
		$0 == name { step = 1; next }
		/^    - name: / { step = 0 }
		step && /\$\{\{/ { gsub(/[:{}$]/, " "); print $1, $2 }' "$action")
}

# Runs a step and returns its exit status.
step() {
	script_of "$1" >"$place/step.sh"
	[ -s "$place/step.sh" ] || fail "the action has no step '$1'"
	(
		environment_of "$1"
		bash --noprofile --norc -eo pipefail "$place/step.sh"
	) >>"$place/step.log" 2>&1
}

# act AFTER FAIL_IF: runs the action with these two inputs; sets `status` to the exit status of its last step
act() {
	: >"$place/step.log"
	export GITHUB_OUTPUT=$place/output GITHUB_STEP_SUMMARY=$place/summary
	: >"$GITHUB_OUTPUT"
	: >"$GITHUB_STEP_SUMMARY"
	inputs=([before]='results of runs/main-*.csv' [after]="$1" [fail-if]="$2" [options]=--quiet [summary]=compare.md
		[kwhy]="$kwhy")
	status=0
	step Compare || status=$?
	step "Show the summary" || fail "the summary cannot be shown"
	if [ "$status" -eq 0 ]; then step Decide || status=$?; fi
}

act 'results of runs/same-*.csv' $'step>+3%\nthroughput<-2%\nfinding:new\n'
[ "$status" -eq 0 ] || fail "equal runs ended with status $status"
grep -q '^## kwhy compare: all conditions are kept$' "$place/summary" || fail "no summary is shown"
grep -q ', 3 runs' "$place/summary" || fail "not all runs are compared"

act 'results of runs/slow-*.csv' $'step>+3%\n'
[ "$status" -eq 3 ] || fail "steps longer by a fifth ended with status $status"
grep -q '^## kwhy compare: a condition is exceeded$' "$place/summary" || fail "no summary of the failure is shown"
grep -q '::error::a condition of kwhy compare holds' "$place/step.log" || fail "no message of the failure"

act 'results of runs/none-*.csv' $'step>+3%\n'
[ "$status" -eq 1 ] || fail "missing runs ended with status $status"
grep -q "::error::no run matches 'results of runs/none-\*.csv'" "$place/step.log" || fail "missing runs are not named"
[ ! -s "$place/summary" ] || fail "the summary of an earlier comparison is shown"

act 'results of runs/same-*.csv' $'steps>+3%\n'
[ "$status" -eq 2 ] || fail "a condition that is none ended with status $status"
grep -q "there is no figure 'steps'" "$place/step.log" || fail "the figures are not listed"

# The script of the GitLab job. The patterns that name its runs are separated by spaces, so no
# pattern may contain a space.
mv "results of runs" results
awk '/^    - \|$/ { script = 1; next } script && /^      / { sub(/^      /, ""); print; next } { script = 0 }' "$gitlab" >"$place/job.sh"
[ -s "$place/job.sh" ] || fail "the GitLab job has no script"
job() {
	KWHY=$kwhy KWHY_SUMMARY=compare.md KWHY_BEFORE='results/main-*.csv' KWHY_AFTER=$1 KWHY_FAIL_IF=$2 \
		sh -e "$place/job.sh" >"$place/step.log" 2>&1
}
job 'results/same-*.csv' 'step>+3% finding:new' || fail "equal runs ended with status $? in GitLab"
status=0
job 'results/slow-*.csv' 'finding:new step>+3%' || status=$?
[ "$status" -eq 3 ] || fail "steps longer by a fifth ended with status $status in GitLab"

if command -v python3 >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
	python3 -c 'import sys, yaml; [yaml.safe_load(open(name)) for name in sys.argv[1:]]' "$action" "$gitlab"
fi
