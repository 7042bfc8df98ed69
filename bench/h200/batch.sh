#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs several of the scripts in this folder, on two GPUs at the same time, and packs their results, for machines that
# are available for minutes only. PLAN: a file with a line for each step (programs/batch.py).
# usage: batch.sh KWHY_FOLDER OUT_FOLDER PLAN [--seconds S] [--gpus N] [--pack FILE] [--pack-mib N]
set -eu
here=$(dirname "$(realpath "$0")")
# A program that uses NVLink multicast can make all GPUs of a host unusable for other users, and no script
# here needs it.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export PATH=$here:$PATH
exec python3 "$here/programs/batch.py" "$@"
