# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts to source. Finds libraries in folders of CUDA's toolkit and of PyTorch, where the loader does not
# search.

# library PATTERN: prints the path of the first library whose file name matches, or nothing. The search of the
# whole machine takes seconds, so its result is kept in a file for later calls.
library() {
	local list=${TMPDIR:-/tmp}/kwhy-libraries.$UID fresh path
	if [ ! -s "$list" ] || [ ! -O "$list" ]; then # what another user leaves there is nothing to load
		fresh=$list.$BASHPID
		find / -xdev \( -name 'libnvrtc.so.1*' -o -name 'libcublasLt.so.1*' -o -name 'libnccl.so.2' -o -name 'libnvidia-ml.so.1' \) \
			> "$fresh" 2> /dev/null || true # folders that may not be read
		mv "$fresh" "$list"
	fi
	while read -r path; do
		# shellcheck disable=SC2053 # a pattern
		if [[ ${path##*/} == $1 ]] && [ -e "$path" ]; then
			echo "$path"
			return
		fi
	done < "$list"
}

# use_libraries PATTERN...: appends the toolkit's folder and the folders of the libraries whose
# names match to LD_LIBRARY_PATH
use_libraries() {
	local pattern path
	LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64
	for pattern in "$@"; do
		path=$(library "$pattern")
		[ -z "$path" ] || LD_LIBRARY_PATH+=:$(dirname "$path")
	done
	export LD_LIBRARY_PATH
}

# use_package FOLDER: makes kwhy's Python package in that folder of the portable build importable, and sets $python to
# the interpreter that has PyTorch
# shellcheck disable=SC2034 # of the scripts that source this
use_package() {
	PYTHONPATH=$1/share/kwhy/python
	KWHY_LIBRARY=$(find "$1" -name 'libkwhy.so.0' | head -1)
	export PYTHONPATH KWHY_LIBRARY
	python=python3
	[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
}
