/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/fit.h"

#include <fnmatch.h>
#include <stddef.h>

/*
 * Patterns of mangled names of kernels that access no address outside of their operands, whatever these
 * contain. Most access the same addresses each time; fusions of XLA may take indices from an operand, but
 * clamp them to the bounds of the operand that they index.
 */
static const char *const fit_names[] = {"*nvjet*", "*gemm*", "loop_*fusion*", "wrapped_*",
	"*vectorized_elementwise_kernel*", "*unrolled_elementwise_kernel*", "*multi_tensor_apply*",
	"*layer_norm*", "*LayerNorm*", "*softmax*", "*Softmax*", "*SoftMax*", "*splitKreduce*"};

/*
 * Patterns of names of kernels that may run again on their own output: they read indices only from memory
 * that they do not write, or write each element once.
 */
static const char *const rerun_names[] = {"*elementwise_kernel*", "*gather_kernel*", "*scatter_gather*",
	"*indexFunc*", "*index_elementwise*", "*index_select*", "*embedding*", "*CatArrayBatchedCopy*",
	"*copy_device_to_device*", "cupy_*__*", "triton_poi_*"};

/*
 * Exceptions from fit_names and rerun_names: convolutions and matrix products whose blocks may count in
 * memory or wait there for each other. A weight gradient of cuDNN (sm80_xmma_wgrad_implicit_gemm) waited
 * forever when it ran on the memory that an earlier run of it had left (H200, driver 580.159.04, 2026-11-29).
 */
static const char *const unfit_names[] = {"*xmma*implicit*", "*xmma*[Ss]egment_k_on*", "*cutlass*", "*wgrad*",
	"*dgrad*", "*[Ss]plitK_*", "*split_k*", "*[Ss]tream[Kk]*", "*stream_k*", "*spin*", "*persistent*"};

/*
 * Exceptions from unfit_names: matrix products that may run again, because the last layer of the grid resets
 * their counter (CUTLASS, kernel/gemm.h, "the final threadblock resets the semaphore for subsequent grids").
 */
static const char *const plain_names[] = {"*cutlass*simt_sgemm*"};

static bool is_among(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

#define IS_AMONG(name, patterns) is_among(name, patterns, sizeof(patterns) / sizeof((patterns)[0]))

static bool is_unfit(const char *name)
{
	return IS_AMONG(name, unfit_names) && !IS_AMONG(name, plain_names);
}

/*
 * Names with "batch" are left out: batched matrix products may read the addresses of their matrices from a
 * list in memory.
 */
bool kwhy_probe_may_begin_in_graph(const char *name)
{
	return IS_AMONG(name, fit_names) && !is_unfit(name) && fnmatch("*[Bb]atch*", name, 0) != 0;
}

/*
 * Whether blocks of a matrix product may wait for blocks of another layer of the grid (another z). cuBLAS may
 * split a product's inner sum among layers, which the kernel's name does not show. The blocks of a layer then
 * wait for a counter in memory until the layers before have added their parts. When sm90_xmma_gemm_f64f64 and
 * sm80_xmma_gemm_f32f32 in three layers ran again without a reset of that counter, they waited forever on an
 * H200, driver 580.159.04, 2026-11-29. Layers may also be matrices of a batch, which do not wait, but the
 * grid does not show whether its layers are matrices of a batch or parts of a sum.
 */
static bool may_wait_for_layers(const char *name, const unsigned grid[3])
{
	return grid[2] > 1 && fnmatch("*gemm*", name, 0) == 0 && !IS_AMONG(name, plain_names);
}

bool kwhy_probe_is_fit(const char *name, const unsigned grid[3])
{
	return IS_AMONG(name, fit_names) && !is_unfit(name) && !may_wait_for_layers(name, grid);
}

bool kwhy_probe_may_rerun(const char *name, const unsigned grid[3])
{
	return kwhy_probe_is_fit(name, grid) || (IS_AMONG(name, rerun_names) && !is_unfit(name));
}
