#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests packaging/kwhy.service: the unit is valid, systemd-analyze rates its exposure at 3.0 of 10 or less, and it
# permits kwhy serve to give up further rights itself.
# Usage: service.sh SOURCE_DIR
set -euo pipefail
unit=$1/packaging/kwhy.service
systemd-analyze --version >/dev/null 2>&1 && systemd-analyze security --help 2>/dev/null | grep -q -- --offline ||
	{ echo "skipped: no systemd-analyze with --offline"; exit 77; }
systemd-analyze security --no-pager --offline=true --threshold=30 "$unit" >/dev/null || {
	systemd-analyze security --no-pager --offline=true "$unit" | tail -n 1
	exit 1
}
for call in seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self; do
	grep -Eq "^SystemCallFilter=([^~]* )?$call( |\$)" "$unit" || { echo "the unit's filter refuses $call"; exit 1; }
done
