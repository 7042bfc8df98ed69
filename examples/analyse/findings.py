# SPDX-License-Identifier: Apache-2.0
"""The three largest findings of a run. Usage: findings.py RECORDING|TRACE..."""

import sys

import kwhy

for finding in kwhy.Analysis(*sys.argv[1:]).findings[:3]:
    print(finding)
