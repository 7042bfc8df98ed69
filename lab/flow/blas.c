/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/flow/rules.h"

#include <stdio.h>
#include <string.h>

struct product {
	uint64_t in, matrix, out; /* addresses */
	uint32_t inputs, outputs, stride;
};

static struct product product_of(const struct kwhy_flow *flow, enum kwhy_flow_matrix matrix)
{
	const struct kwhy_flow_args *a = &flow->args;
	const struct product all[KWHY_FLOW_PRODUCTS] = {
		{a->in, KWHY_FLOW_W1, a->u, KWHY_FLOW_INPUTS, KWHY_FLOW_LAYER, KWHY_FLOW_LAYER},
		{a->u, KWHY_FLOW_W2, a->a, KWHY_FLOW_LAYER, KWHY_FLOW_ENERGIES, KWHY_FLOW_INPUTS},
		{a->a, KWHY_FLOW_WI, a->gi, KWHY_FLOW_INPUTS, KWHY_FLOW_GATES, KWHY_FLOW_GATES},
		{a->h, KWHY_FLOW_WH, a->gh, KWHY_FLOW_STATE, KWHY_FLOW_GATES, KWHY_FLOW_GATES},
		{a->h, KWHY_FLOW_WO, a->outputs, KWHY_FLOW_STATE, KWHY_FLOW_OUTPUTS, KWHY_FLOW_OUTPUTS}};
	struct product one = all[matrix];

	one.matrix = a->weights + one.matrix * sizeof(float);
	return one;
}

static enum kwhy_status check(const struct kwhy_flow *flow, enum kwhy_cublas_result result, const char *what,
	struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLAS cannot %s: %s; CUBLAS_LOGINFO_DBG=1 says more", what,
		flow->cublas.cublasGetStatusString(result));
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* To the library our matrices, which lie row by row, are transposed, and so is their product. */
static enum kwhy_status multiply(struct kwhy_flow *flow, enum kwhy_flow_matrix matrix, uint32_t first,
	uint32_t count, struct kwhy_error *error)
{
	static const enum kwhy_cublas_compute computes[KWHY_FLOW_PRECISION_COUNT] = {
		KWHY_CUBLAS_COMPUTE_FP32, KWHY_CUBLAS_COMPUTE_FAST_TF32, KWHY_CUBLAS_COMPUTE_FAST_BF16};
	const struct product p = product_of(flow, matrix);
	const float one = 1, zero = 0;
	enum kwhy_status status = kwhy_flow_make_room(flow, error);

	flow->tally.calls++;
	flow->tally.products++;
	flow->tally.kernels++;
	if (status)
		return status;
	return check(flow,
		flow->cublas.cublasGemmEx(flow->blas, KWHY_CUBLAS_AS_IT_IS, KWHY_CUBLAS_AS_IT_IS,
			(int)p.outputs, (int)count, (int)p.inputs, &one, at(p.matrix), KWHY_CUBLAS_FLOAT32,
			(int)p.outputs, at(p.in + (uint64_t)first * p.inputs * sizeof(float)),
			KWHY_CUBLAS_FLOAT32, (int)p.inputs, &zero,
			at(p.out + (uint64_t)first * p.stride * sizeof(float)), KWHY_CUBLAS_FLOAT32,
			(int)p.stride, computes[flow->precision], KWHY_CUBLAS_DEFAULT),
		"multiply", error);
}

enum kwhy_status kwhy_flow_multiply(struct kwhy_flow *flow, enum kwhy_flow_matrix matrix, uint32_t first,
	uint32_t count, struct kwhy_error *error)
{
	if (!flow->blas)
		return kwhy_flow_launch(flow, KWHY_FLOW_PRODUCT, matrix, first, count, error);
	return count ? multiply(flow, matrix, first, count, error) : KWHY_OK;
}

static enum kwhy_status prepare(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status = gpu->ops->memory_new(gpu, KWHY_FLOW_BLAS_BYTES, &flow->blas_memory, error);
	int version = 0;

	if (!status)
		status = check(flow, flow->cublas.cublasCreate_v2(&flow->blas), "begin", error);
	if (!status)
		status = check(flow,
			flow->cublas.cublasSetStream_v2(flow->blas, (kwhy_cublas_stream)(void *)flow->stream),
			"take a stream", error);
	/* Of its own, so that a graph may hold its work. */
	if (!status)
		status = check(flow,
			flow->cublas.cublasSetWorkspace_v2(
				flow->blas, at(flow->blas_memory), KWHY_FLOW_BLAS_BYTES),
			"take a workspace", error);
	if (!status)
		status = check(flow, flow->cublas.cublasGetVersion_v2(flow->blas, &version),
			"say its version", error);
	if (!status)
		snprintf(flow->products, sizeof(flow->products), "cuBLAS %d.%d.%d", version / 10000,
			version / 100 % 100, version % 100);
	return status;
}

static void use_own(struct kwhy_flow *flow, const char *why)
{
	flow->precision = KWHY_FLOW_FP32;
	snprintf(flow->products, sizeof(flow->products), "own kernels: %s", why);
}

enum kwhy_status kwhy_flow_blas_open(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (flow->variant->way == KWHY_FLOW_EACH) {
		use_own(flow, "a flow alone is no matrix");
		return KWHY_OK;
	}
	if (flow->variant->way == KWHY_FLOW_WHOLE || flow->variant->way == KWHY_FLOW_WIDE) {
		snprintf(flow->products, sizeof(flow->products), "tensor instructions of the kernel%s",
			flow->variant->way == KWHY_FLOW_WIDE ? "s" : "");
		flow->precision = KWHY_FLOW_BF16;
		return KWHY_OK;
	}
	if (strcmp(flow->gpu->ops->name, "cuda") != 0) {
		use_own(flow, "cuBLAS works on CUDA alone");
		return KWHY_OK;
	}
	if (kwhy_cublas_open(&flow->cublas, error)) {
		use_own(flow, error->text);
		return KWHY_OK;
	}
	status = prepare(flow, error);
	if (status != KWHY_E_UNSUPPORTED)
		return status;
	kwhy_flow_blas_close(flow);
	use_own(flow, error->text);
	return KWHY_OK;
}

void kwhy_flow_blas_close(struct kwhy_flow *flow)
{
	if (flow->blas)
		(void)flow->cublas.cublasDestroy_v2(flow->blas);
	flow->gpu->ops->memory_free(flow->gpu, flow->blas_memory);
	kwhy_cublas_close(&flow->cublas);
	flow->blas_memory = 0;
	flow->blas = NULL;
}
