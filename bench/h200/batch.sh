#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a plan of these scripts on a machine that is available for minutes only, on two GPUs at the same time, and packs
# the results: programs/batch.py.
# usage: batch.sh KWHY_FOLDER OUT_FOLDER PLAN [--seconds S] [--gpus N] [--pack FILE] [--pack-mib N]
set -eu
here=$(dirname "$(realpath "$0")")
# One user's NVLink multicast can take the GPUs of a whole host out of service, and nothing here needs it.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export PATH=$here:$PATH
exec python3 "$here/programs/batch.py" "$@"
