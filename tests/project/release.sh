#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that what `make release` left in dist/ needs only glibc 2.28 and conforms to the rules for wheels, .deb and
# .rpm. Without the tools for these rules, the test is skipped after all other checks have passed.
# Usage: release.sh SOURCE_DIR
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$1/dist" 2>/dev/null && [ -s SHA256SUMS ] || { echo "skipped: no release in dist/; make release makes one"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0
complain() {
	echo "$*"
	bad=1
}

missing=()
# has TOOL: whether the tool is installed. If not, adds it to the missing tools, which the last message names.
has() {
	command -v "$1" >/dev/null || { missing+=("$1"); return 1; }
}

sha256sum --quiet --check SHA256SUMS || complain "a file of dist/ is not what SHA256SUMS says"
shopt -s nullglob
wheels=(*.whl) archives=(*-x86_64.tar.zst *-aarch64.tar.zst) debs=(*.deb) rpms=(*.rpm) parts=(*.spdx.json)
[ "${#wheels[@]}" -gt 0 ] && [ "${#archives[@]}" -eq "${#wheels[@]}" ] && [ "${#parts[@]}" -eq "${#wheels[@]}" ] ||
	complain "not one wheel, archive and bill of materials for each architecture"
[ "${#debs[@]}" -eq $((3 * ${#wheels[@]})) ] || complain "not three .deb for each architecture"
[ "${#rpms[@]}" -eq $((3 * ${#wheels[@]})) ] || complain "not three .rpm for each architecture"

for archive in "${archives[@]}"; do
	mkdir "$place/${archive%.tar.zst}"
	tar --zstd -xf "$archive" -C "$place/${archive%.tar.zst}"
	"$here/elf_policy.py" "$place/${archive%.tar.zst}" || bad=1
done
for wheel in "${wheels[@]}"; do
	[ "$(stat -c %s "$wheel")" -le 10000000 ] || complain "$wheel has more than 10 MB"
	[[ $wheel == *-manylinux_2_28_*.whl ]] || complain "$wheel does not say which glibc it needs"
	mkdir "$place/$wheel"
	python3 -m zipfile -e "$wheel" "$place/$wheel"
	"$here/elf_policy.py" "$place/$wheel" || bad=1
	grep -qx "Tag: ${wheel#kwhy-*-}" <(sed 's/$/.whl/' "$place/$wheel"/*.dist-info/WHEEL) || complain "$wheel has another tag inside"
	[ -s "$place/$wheel/kwhy/py.typed" ] || [ -e "$place/$wheel/kwhy/py.typed" ] || complain "$wheel is not typed"
	python3 - "$place/$wheel" <<'PYTHON' || bad=1
import base64, csv, hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
rows = {row[0]: row[1] for row in csv.reader(next(root.glob("*.dist-info/RECORD")).open())}
files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
if files != set(rows):
    sys.exit("RECORD lists other files: {}".format(sorted(files ^ set(rows))))
for name, digest in rows.items():
    real = base64.urlsafe_b64encode(hashlib.sha256((root / name).read_bytes()).digest()).rstrip(b"=").decode()
    if digest and digest != "sha256=" + real:
        sys.exit("RECORD has another hash of " + name)
PYTHON
done
for package in "${debs[@]}"; do
	dpkg-deb --extract "$package" "$place/$package"
done
for package in kwhy_*.deb libkwhy0_*.deb; do
	"$here/elf_policy.py" "$place/$package" libmicrohttpd.so.12 || bad=1
done
for part in "${parts[@]}"; do
	python3 -c 'import json, sys
document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and len(document["packages"]) > 5' "$part" || complain "$part is no SPDX document"
done

if has twine; then
	twine check --strict "${wheels[@]}" >"$place/twine" 2>&1 || { cat "$place/twine"; complain "twine refuses a wheel"; }
fi
if has lintian; then
	lintian --no-cfg --fail-on error,warning "${debs[@]}" || complain "lintian has something to say"
fi
if has rpmlint; then
	rpmlint --config "$1/packaging/rpmlint.toml" "${rpms[@]}" >"$place/rpmlint" 2>&1 || { cat "$place/rpmlint"; complain "rpmlint has something to say"; }
fi
[ "$bad" -eq 0 ] || exit 1
[ "${#missing[@]}" -eq 0 ] || { echo "skipped: not installed: ${missing[*]}; scripts/setup release installs them"; exit 77; }
