#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that pandas can read the tables that kwhy's Python binding returns. Usage: frames.sh PYTHON
"$1" -c 'import pandas' 2>/dev/null || {
	echo "skipped: $1 has no pandas (scripts/setup check installs it)"
	exit 77
}
exec "$1" -B -m unittest test_tables.Tables.test_pandas_and_numpy_read_the_columns
