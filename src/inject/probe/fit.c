/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/fit.h"

#include <fnmatch.h>
#include <stddef.h>

/* Kernels that go through their operands in an order of their own. */
static const char *const fit_names[] = {"*gemm*", "*nvjet*", "*xmma*", "*flash_fwd*", "*flash_bwd*", "*fmha*",
	"*_sdpa_*", "*vectorized_elementwise_kernel*", "*unrolled_elementwise_kernel*", "*layer_norm*",
	"*LayerNorm*", "*softmax*", "*Softmax*", "*SoftMax*", "*multi_tensor_apply*", "*splitKreduce*",
	"*wgrad*", "*dgrad*", "*fprop*", "*batch_norm*", "*bn_fw*", "*bn_bw*"};

/* Of those, what waits in memory for blocks of its own: on what has been overwritten it would wait for ever.
 */
static const char *const unfit_names[] = {"*cutlassB*", "*[Ss]treamK*", "*stream_k*", "*[Ss]plitK*cutlass*",
	"*cutlass*[Ss]plitK*", "*spin*", "*persistent*"};

static bool is_among(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

bool kwhy_probe_is_fit(const char *name)
{
	return is_among(name, fit_names, sizeof(fit_names) / sizeof(fit_names[0])) &&
		!is_among(name, unfit_names, sizeof(unfit_names) / sizeof(unfit_names[0]));
}
