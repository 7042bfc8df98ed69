#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the part kernel_kinds of a machine profile from the powers that kinds.sh has measured.

kind_powers.py MULTIPROCESSORS CONDITIONS POWERS.json... > kernel_kinds.json

The model, fitted by least squares: the logarithm of a kernel's power above idle is that of its kind; plus one exponent
times the logarithm of the kernel's time divided by `ramp_s`, if the time is shorter than `ramp_s`; plus another
exponent times the logarithm of the share of the multiprocessors that have a block.
"""
import fnmatch
import json
import math
import sys

# Patterns of kernel names for each kind; the first kind with a match decides. "warp groups": kernels
# for sm90, whose products use wgmma instructions (four warps together).
KINDS = {
    "attention on warp groups": ["*sdpa*wgmma*", "*fmha*sm90*", "*flash*sm90*"],
    "attention of one row": ["*sdpa*_16x128x*", "*[Ss]plit[Kk][Vv]*", "*paged_attention*"],
    "attention": ["*fmha*", "*flash*", "*sdpa*", "*attention*"],
    "convolution on warp groups": ["sm90*fprop*", "sm90*dgrad*", "sm90*wgrad*"],
    "convolution": ["*fprop*", "*dgrad*", "*wgrad*", "*[Ii]mplicit*[Gg]emm*", "*winograd*", "*[Cc]onvolve*", "*conv2d*"],
    "product, of an older GPU": ["*forwardCompat*"],
    "product, 8-bit integers": ["*gemm_s8*", "*gemm_i8*", "*imma*gemm*"],
    "sparse product": ["*csrmm*", "*csrmv*", "*spmm*", "*spmv*"],
    "product, fp64": ["*f64f64*", "*dgemm*", "*d884gemm*"],
    "product, tf32": ["*tf32*gemm*", "*gemm*tf32*", "*s1688gemm*"],
    "product, fp8": ["*nvjet*_qq*", "*e4m3*gemm*", "*gemm*e4m3*"],
    "product, 16 bit": ["*nvjet*", "*16816gemm*", "*gemm*_f16*", "*gemm*_bf16*", "*hgemm*", "*h884gemm*", "*h1688gemm*"],
    "product, fp32": ["*sgemm*", "*gemm*f32f32_f32f32*", "*gemm*", "*gemv*"],
    "random numbers": ["*distribution*", "*dropout*", "*philox*", "*curand*"],
    "FFT": ["*fft*", "*FFT*"],
    "sort": ["*[Ss]ort*", "*[Tt]op[Kk]*", "*topk*", "*[Rr]adix*"],
    "scan": ["*[Ss]can*", "*cumsum*"],
    "statistics of a batch": ["*batch_norm_collect*", "*batch_norm_backward_reduce*"],
    "norm": ["*[Nn]orm*", "*GammaBeta*", "*RowwiseMoments*"],
    "softmax and loss": ["*[Ss]oft[Mm]ax*", "*nll_loss*", "*cross_entropy*"],
    "optimizer": ["*multi_tensor_apply*", "*[Aa]dam*"],
    "index": ["*gather*", "*scatter*", "*index*", "*[Ee]mbedding*", "*compute_grad_weight*"],
    "reduction": ["*reduce*", "*Reduce*"],
    "pooling and resampling": ["*_pool*", "*upsample*", "*_pad[123]d*"],
    "histogram": ["*[Hh]istogram*"],
    "elementwise": ["*elementwise*", "*vectorized[24]_kernel*", "*fusion*", "*triton_poi*", "*CatArray*", "*[Tt]ranspose*", "*copy_kernel*", "*fill*", "cupy_*"],
    "copy on the device": ["d2d device->device *"],
    "fill of memory": ["memset device *"],
}
SHORTEST_S = 2e-6  # as in src/ledger/energy/power_kind.c
UNSURE = 0.35  # largest relative uncertainty of a power that is used; also the assumed spread of kinds with few known kernels
FEW = 6  # number of kernels with that spread that are added to those of each kind
FEWEST_FILL = 0.1  # smaller grids draw too little power to be measured
BETWEEN_KERNELS = 0.2  # spread of the kernels of one kind, added to each kernel's own uncertainty for its weight
RAMPS_S = [10e-6, 20e-6, 30e-6, 40e-6, 60e-6, 100e-6]


def kind_of(name):
    for kind, patterns in KINDS.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return kind
    return None


def kernels_of(path, multiprocessors):
    with open(path, encoding="utf-8") as file:
        powers = json.load(file)["powers"]
    for power in powers:
        above, kind = power["above_idle_w"], kind_of(power["name"])
        is_memory = power["name"].startswith(("d2d", "memset"))
        fill = 1.0 if is_memory else min(1, (power["blocks"] or 0) / multiprocessors)
        spread = above["spread"] / above["value"]
        if kind and spread <= UNSURE and fill >= FEWEST_FILL:
            yield {"kind": kind, "log": math.log(above["value"]), "spread": spread, "fill": math.log(fill),
                   "s": max(SHORTEST_S, 1e-9 * power["time_ns"] / power["launches"])}


def solve(matrix, values):
    size = len(values)
    rows = [row[:] + [value] for row, value in zip(matrix, values)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(size):
            factor = rows[j][i] / rows[i][i] if j != i else 0
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def terms_of(kernel, kinds, ramp_s):
    return [float(kernel["kind"] == kind) for kind in kinds] + [min(0, math.log(kernel["s"] / ramp_s)), kernel["fill"]]


def fit(kernels, kinds, ramp_s):
    """Returns the levels of the kinds, the two exponents, and the residual of each kernel."""
    size = len(kinds) + 2
    matrix, values = [[0.0] * size for _ in range(size)], [0.0] * size
    for kernel in kernels:
        terms, weight = terms_of(kernel, kinds, ramp_s), 1 / (kernel["spread"] ** 2 + BETWEEN_KERNELS**2)
        for i in range(size):
            values[i] += weight * terms[i] * kernel["log"]
            for j in range(size):
                matrix[i][j] += weight * terms[i] * terms[j]
    found = solve(matrix, values)
    off = [kernel["log"] - sum(a * b for a, b in zip(found, terms_of(kernel, kinds, ramp_s))) for kernel in kernels]
    return found, off


def spread_of(off):
    return math.sqrt((sum(value**2 for value in off) + FEW * UNSURE**2) / (len(off) + FEW))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    kernels = [kernel for path in sys.argv[3:] for kernel in kernels_of(path, int(sys.argv[1]))]
    kinds = [kind for kind in KINDS if any(kernel["kind"] == kind for kernel in kernels)]
    fits = {ramp_s: fit(kernels, kinds, ramp_s) for ramp_s in RAMPS_S}
    ramp_s = min(fits, key=lambda ramp_s: sum(value**2 for value in fits[ramp_s][1]))
    found, off = fits[ramp_s]
    rows = []
    for level, kind in zip(found, kinds):
        of_kind = [value for value, kernel in zip(off, kernels) if kernel["kind"] == kind]
        watts = math.exp(level)
        rows.append({"kind": kind, "names": KINDS[kind], "kernels": len(of_kind),
                     "above_idle_w": {"value": round(watts, 1), "spread": round(watts * spread_of(of_kind), 1), "unit": "W"}})
    json.dump({"conditions": sys.argv[2], "ramp_s": ramp_s, "ramp_exponent": round(found[-2], 3),
               "fill_exponent": round(found[-1], 3), "kinds": rows}, sys.stdout, indent="\t")
    print()


if __name__ == "__main__":
    main()
