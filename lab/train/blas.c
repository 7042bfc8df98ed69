/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/inside.h"

#include <stdio.h>
#include <string.h>

enum { BLAS_BYTES = 32 << 20 }; /* what the library asks for on the newest GPUs */

static enum kwhy_status check(const struct kwhy_train *train, enum kwhy_cublas_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLAS cannot %s: %s; CUBLAS_LOGINFO_DBG=1 says more", what,
		train->cublas.cublasGetStatusString(result));
}

static enum kwhy_status prepare(struct kwhy_train *train, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[0];
	enum kwhy_status status = rank->gpu->ops->memory_new(
		rank->gpu, BLAS_BYTES, &train->blas_memory, error);
	int version = 0;

	if (!status)
		status = check(train, train->cublas.cublasCreate_v2(&train->blas), "begin", error);
	if (!status)
		status = check(train,
			train->cublas.cublasSetStream_v2(
				train->blas, (kwhy_cublas_stream)(void *)rank->stream),
			"take a stream", error);
	if (!status)
		status = check(train,
			train->cublas.cublasSetWorkspace_v2(
				train->blas, kwhy_gpu_at(train->blas_memory), BLAS_BYTES),
			"take a workspace", error);
	if (!status)
		status = check(train, train->cublas.cublasGetVersion_v2(train->blas, &version),
			"say its version", error);
	if (!status)
		snprintf(train->products, sizeof(train->products), "cuBLAS %d.%d.%d", version / 10000,
			version / 100 % 100, version % 100);
	return status;
}

enum kwhy_status kwhy_train_blas_open(struct kwhy_train *train, struct kwhy_error *error)
{
	enum kwhy_status status;

	snprintf(train->products, sizeof(train->products), "own kernels");
	if (!train->variant->library)
		return KWHY_OK;
	if (strcmp(train->ranks[0].gpu->ops->name, "cuda") != 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "cuBLAS works on CUDA alone; leave %s out",
			train->variant->id);
	status = kwhy_cublas_open(&train->cublas, error);
	return status ? status : prepare(train, error);
}

void kwhy_train_blas_close(struct kwhy_train *train)
{
	if (train->blas)
		(void)train->cublas.cublasDestroy_v2(train->blas);
	train->ranks[0].gpu->ops->memory_free(train->ranks[0].gpu, train->blas_memory);
	kwhy_cublas_close(&train->cublas);
}

/* A matrix of two bytes an element, as it lies or transposed. */
struct factor {
	uint64_t address;
	enum kwhy_cublas_operation operation;
};

static uint64_t inputs_at(const struct kwhy_train *train, uint32_t slot)
{
	const struct kwhy_train_args *a = &train->ranks[0].args;
	uint64_t row = slot == KWHY_TRAIN_INPUTS ? train->step % (a->samples / a->batch) * a->batch
						 : (uint64_t)slot * a->batch;

	return (slot == KWHY_TRAIN_INPUTS ? a->inputs : a->hidden) + 2 * row * a->width;
}

static uint64_t errors_at(const struct kwhy_train *train, uint32_t slot)
{
	const struct kwhy_train_args *a = &train->ranks[0].args;

	return a->errors + 2 * (uint64_t)slot * a->batch * a->width;
}

/*
 * The library's matrices lie column by column: ours, which lie row by row, are transposed there, and so is
 * their product; the factors change places. A batch is taken at once.
 */
enum kwhy_status kwhy_train_blas_multiply(struct kwhy_train *train, enum kwhy_train_product what,
	const struct kwhy_train_call *call, struct kwhy_error *error)
{
	const struct kwhy_train_args *a = &train->ranks[0].args;
	const uint64_t matrix = (uint64_t)call->layer * a->width * a->width;
	const struct factor weights = {a->copies + 2 * matrix,
				    what == KWHY_TRAIN_FORWARD ? KWHY_CUBLAS_TRANSPOSED
							       : KWHY_CUBLAS_AS_IT_IS},
			    inputs = {inputs_at(train, what == KWHY_TRAIN_FORWARD ? call->in : call->kept),
				    KWHY_CUBLAS_AS_IT_IS},
			    errors = {errors_at(train, call->in),
				    what == KWHY_TRAIN_UPDATE ? KWHY_CUBLAS_TRANSPOSED
							      : KWHY_CUBLAS_AS_IT_IS},
			    left = what == KWHY_TRAIN_UPDATE ? inputs : weights,
			    right = what == KWHY_TRAIN_FORWARD ? inputs : errors;
	const int width = (int)a->width, batch = (int)a->batch;
	const bool is_update = what == KWHY_TRAIN_UPDATE;
	const float one = 1, zero = 0;

	train->tally.launches++;
	return check(train,
		train->cublas.cublasGemmEx(train->blas, left.operation, right.operation, width,
			is_update ? width : batch, is_update ? batch : width, &one, kwhy_gpu_at(left.address),
			KWHY_CUBLAS_BFLOAT16, width, kwhy_gpu_at(right.address), KWHY_CUBLAS_BFLOAT16, width,
			&zero, kwhy_gpu_at(is_update ? a->gradients + matrix * sizeof(float) : a->logits),
			KWHY_CUBLAS_FLOAT32, width, KWHY_CUBLAS_COMPUTE_FP32, KWHY_CUBLAS_DEFAULT),
		"multiply", error);
}
