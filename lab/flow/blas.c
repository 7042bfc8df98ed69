/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"

#include <stdio.h>
#include <string.h>

struct product {
	uint64_t in, matrix, out; /* addresses */
	uint32_t inputs, outputs, stride;
};

static struct product product_of(const struct lab_flow *flow, enum lab_flow_matrix matrix)
{
	const struct lab_flow_args *a = &flow->args;
	const struct product all[LAB_FLOW_PRODUCTS] = {
		{a->in, W1, a->u, LAB_FLOW_INPUTS, LAB_FLOW_LAYER, LAB_FLOW_LAYER},
		{a->u, W2, a->a, LAB_FLOW_LAYER, LAB_FLOW_ENERGIES, LAB_FLOW_INPUTS},
		{a->a, WI, a->gi, LAB_FLOW_INPUTS, LAB_FLOW_GATES, LAB_FLOW_GATES},
		{a->h, WH, a->gh, LAB_FLOW_STATE, LAB_FLOW_GATES, LAB_FLOW_GATES},
		{a->h, WO, a->outputs, LAB_FLOW_STATE, LAB_FLOW_OUTPUTS, LAB_FLOW_OUTPUTS}};
	struct product one = all[matrix];

	one.matrix = a->weights + one.matrix * sizeof(float);
	return one;
}

static enum kwhy_status check(const struct lab_flow *flow, enum kwhy_cublas_result result, const char *what,
	struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLAS cannot %s: %s; CUBLAS_LOGINFO_DBG=1 says more", what,
		flow->cublas.cublasGetStatusString(result));
}

/* To the library our matrices, which lie row by row, are transposed, and so is their product. */
static enum kwhy_status multiply(struct lab_flow *flow, enum lab_flow_matrix matrix, uint32_t first,
	uint32_t count, struct kwhy_error *error)
{
	static const enum kwhy_cublas_compute computes[LAB_FLOW_PRECISION_COUNT] = {
		KWHY_CUBLAS_COMPUTE_FP32, KWHY_CUBLAS_COMPUTE_FAST_TF32, KWHY_CUBLAS_COMPUTE_FAST_BF16};
	const struct product p = product_of(flow, matrix);
	const float one = 1, zero = 0;
	enum kwhy_status status = lab_gate_make_room(&flow->gate, error);

	flow->tally.calls++;
	flow->tally.products++;
	flow->tally.kernels++;
	if (status)
		return status;
	return check(flow,
		flow->cublas.cublasGemmEx(flow->blas, KWHY_CUBLAS_AS_IT_IS, KWHY_CUBLAS_AS_IT_IS,
			(int)p.outputs, (int)count, (int)p.inputs, &one, kwhy_gpu_at(p.matrix),
			KWHY_CUBLAS_FLOAT32, (int)p.outputs,
			kwhy_gpu_at(p.in + (uint64_t)first * p.inputs * sizeof(float)), KWHY_CUBLAS_FLOAT32,
			(int)p.inputs, &zero, kwhy_gpu_at(p.out + (uint64_t)first * p.stride * sizeof(float)),
			KWHY_CUBLAS_FLOAT32, (int)p.stride, computes[flow->precision], KWHY_CUBLAS_DEFAULT),
		"multiply", error);
}

enum kwhy_status lab_flow_multiply(struct lab_flow *flow, enum lab_flow_matrix matrix, uint32_t first,
	uint32_t count, struct kwhy_error *error)
{
	if (!flow->blas)
		return lab_flow_launch(flow, LAB_FLOW_PRODUCT, matrix, first, count, error);
	return count ? multiply(flow, matrix, first, count, error) : KWHY_OK;
}

static enum kwhy_status prepare(struct lab_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status = gpu->ops->memory_new(gpu, LAB_FLOW_BLAS_BYTES, &flow->blas_memory, error);
	int version = 0;

	NEXT(status, check(flow, flow->cublas.cublasCreate_v2(&flow->blas), "begin", error));
	NEXT(status,
		check(flow,
			flow->cublas.cublasSetStream_v2(flow->blas, (kwhy_cublas_stream)(void *)flow->stream),
			"take a stream", error));
	/* Of its own, so that a graph may hold its work. */
	NEXT(status,
		check(flow,
			flow->cublas.cublasSetWorkspace_v2(
				flow->blas, kwhy_gpu_at(flow->blas_memory), LAB_FLOW_BLAS_BYTES),
			"take a workspace", error));
	NEXT(status,
		check(flow, flow->cublas.cublasGetVersion_v2(flow->blas, &version), "say its version",
			error));
	if (!status)
		snprintf(flow->products, sizeof(flow->products), "cuBLAS %d.%d.%d", version / 10000,
			version / 100 % 100, version % 100);
	return status;
}

static void use_own(struct lab_flow *flow, const char *why)
{
	flow->precision = LAB_FLOW_FP32;
	snprintf(flow->products, sizeof(flow->products), "own kernels: %s", why);
}

enum kwhy_status lab_flow_blas_open(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (flow->variant->way == LAB_FLOW_EACH) {
		use_own(flow, "a flow alone is no matrix");
		return KWHY_OK;
	}
	if (flow->variant->way == LAB_FLOW_WHOLE) {
		snprintf(flow->products, sizeof(flow->products), "tensor instructions of the kernel");
		flow->precision = LAB_FLOW_BF16;
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
	lab_flow_blas_close(flow);
	use_own(flow, error->text);
	return KWHY_OK;
}

void lab_flow_blas_close(struct lab_flow *flow)
{
	if (flow->blas)
		(void)flow->cublas.cublasDestroy_v2(flow->blas);
	flow->gpu->ops->memory_free(flow->gpu, flow->blas_memory);
	kwhy_cublas_close(&flow->cublas);
	flow->blas_memory = 0;
	flow->blas = NULL;
}
