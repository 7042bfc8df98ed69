/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/products.h"

#include "lab/decode/device.h"
#include "vendor/cublaslt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORKSPACE_BYTES = 32 << 20, /* what the library asks for on the newest GPUs */
	WAYS = 8,		    /* of the library's, the likeliest first */
	PLANS_MOST = 64
};

/* How the library multiplies a shape. */
struct plan {
	uint32_t rows, columns, tokens;
	kwhy_cublaslt_product product;
	kwhy_cublaslt_layout weights, acts, sums;
	struct kwhy_cublaslt_choice way;
};

struct lab_decode_products {
	struct kwhy_gpu *gpu;
	enum lab_decode_weights weights;
	const struct kwhy_gpu_kernel *on_host; /* NULL: by the library */
	struct kwhy_cublaslt lt;
	kwhy_cublaslt_handle handle;
	kwhy_cublaslt_wish wish;
	uint64_t workspace;
	struct plan plans[PLANS_MOST];
	uint32_t plan_count;
	char name[64];
};

/* What the library is given for each kind. 8 bits want the left factor transposed and the right one not, as
 * all are here; int8 is summed up in int32, with factors before and behind of int32, too. */
static const struct {
	enum kwhy_cublaslt_type factors, sums;
	enum kwhy_cublas_compute compute;
} terms[LAB_DECODE_WEIGHTS_COUNT] = {
	[LAB_DECODE_FP32] = {KWHY_CUBLASLT_FLOAT32, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
	[LAB_DECODE_TF32] = {KWHY_CUBLASLT_FLOAT32, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FAST_TF32},
	[LAB_DECODE_BF16] = {KWHY_CUBLASLT_BFLOAT16, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
	[LAB_DECODE_FP16] = {KWHY_CUBLASLT_FLOAT16, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
	[LAB_DECODE_FP8] = {KWHY_CUBLASLT_FLOAT8_E4M3, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
	[LAB_DECODE_INT8] = {KWHY_CUBLASLT_INT8, KWHY_CUBLASLT_INT32, KWHY_CUBLAS_COMPUTE_INT32},
	[LAB_DECODE_INT4] = {KWHY_CUBLASLT_BFLOAT16, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
	[LAB_DECODE_SPARSE] = {KWHY_CUBLASLT_FLOAT16, KWHY_CUBLASLT_FLOAT32, KWHY_CUBLAS_COMPUTE_FP32},
};

static enum kwhy_status check(const struct lab_decode_products *products, enum kwhy_cublas_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLASLt cannot %s %s: %s; CUBLASLT_LOG_LEVEL=5 says more", what,
		lab_decode_kinds[products->weights].name, products->lt.cublasLtGetStatusString(result));
}

const char *lab_decode_products_name(const struct lab_decode_products *products)
{
	return products->name;
}

/* --- Plans --- */

/* To the library our matrices, which lie row by row, are transposed, and so is their product. */
static enum kwhy_status describe(
	const struct lab_decode_products *products, struct plan *plan, struct kwhy_error *error)
{
	const struct kwhy_cublaslt *lt = &products->lt;
	enum kwhy_cublaslt_type factors = terms[products->weights].factors,
				sums = terms[products->weights].sums;
	int32_t transposed = KWHY_CUBLAS_TRANSPOSED;
	enum kwhy_cublas_result result = lt->cublasLtMatmulDescCreate(
		&plan->product, terms[products->weights].compute, sums);

	if (!result)
		result = lt->cublasLtMatmulDescSetAttribute(
			plan->product, KWHY_CUBLASLT_TRANSPOSE_A, &transposed, sizeof(transposed));
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(
			&plan->weights, factors, plan->columns, plan->rows, plan->columns);
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(
			&plan->acts, factors, plan->columns, plan->tokens, plan->columns);
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(
			&plan->sums, sums, plan->rows, plan->tokens, plan->rows);
	return check(products, result, "describe a product of", error);
}

/* The library's first way that fits. */
static enum kwhy_status choose(
	const struct lab_decode_products *products, struct plan *plan, struct kwhy_error *error)
{
	struct kwhy_cublaslt_choice ways[WAYS];
	int count = 0;
	enum kwhy_status status = check(products,
		products->lt.cublasLtMatmulAlgoGetHeuristic(products->handle, plan->product, plan->weights,
			plan->acts, plan->sums, plan->sums, products->wish, WAYS, ways, &count),
		"find a way to multiply", error);

	for (int i = 0; !status && i < count; i++)
		if (!ways[i].state && ways[i].workspace_bytes <= WORKSPACE_BYTES) {
			plan->way = ways[i];
			return KWHY_OK;
		}
	return status
		? status
		: kwhy_fail(error, KWHY_E_UNSUPPORTED,
			  "cuBLASLt has no way to multiply %u rows and %u columns of %s with %u tokens",
			  plan->rows, plan->columns, lab_decode_kinds[products->weights].name, plan->tokens);
}

static enum kwhy_status find_plan(struct lab_decode_products *products,
	const struct lab_decode_product *product, const struct plan **out, struct kwhy_error *error)
{
	uint32_t tokens = lab_decode_products_tokens(products->weights, product->tokens);
	struct plan *plan;
	enum kwhy_status status;

	for (uint32_t i = 0; i < products->plan_count; i++) {
		plan = &products->plans[i];
		*out = plan;
		if (plan->rows == product->rows && plan->columns == product->columns &&
			plan->tokens == tokens)
			return KWHY_OK;
	}
	if (products->plan_count == PLANS_MOST)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "decode multiplies more than %d shapes", (int)PLANS_MOST);
	plan = &products->plans[products->plan_count++];
	*plan = (struct plan){.rows = product->rows, .columns = product->columns, .tokens = tokens};
	*out = plan;
	status = describe(products, plan, error);
	return status ? status : choose(products, plan, error);
}

/* --- Products --- */

static enum kwhy_status queue_on_host(const struct lab_decode_products *products,
	const struct lab_decode_product *product, struct kwhy_error *error)
{
	struct lab_decode_host_product own = {product->weights, product->acts, product->sums, product->rows,
		product->columns, product->tokens, (uint32_t)products->weights};
	void *arguments[] = {&own};
	const struct kwhy_gpu_launch launch = {.kernel = products->on_host,
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = product->stream};

	return products->gpu->ops->launch(products->gpu, &launch, error);
}

enum kwhy_status lab_decode_products_queue(struct lab_decode_products *products,
	const struct lab_decode_product *product, struct kwhy_error *error)
{
	const float one = 1, zero = 0;
	const int32_t whole_one = 1, whole_zero = 0;
	bool is_whole = terms[products->weights].sums == KWHY_CUBLASLT_INT32;
	const void *alpha = is_whole ? (const void *)&whole_one : &one,
		   *beta = is_whole ? (const void *)&whole_zero : &zero;
	const struct plan *plan = NULL;
	void *sums = kwhy_gpu_at(product->sums);
	enum kwhy_status status;

	if (products->on_host)
		return queue_on_host(products, product, error);
	status = find_plan(products, product, &plan, error);
	if (status)
		return status;
	return check(products,
		products->lt.cublasLtMatmul(products->handle, plan->product, alpha,
			kwhy_gpu_at(product->weights), plan->weights, kwhy_gpu_at(product->acts), plan->acts,
			beta, sums, plan->sums, sums, plan->sums, &plan->way.algorithm,
			kwhy_gpu_at(products->workspace), WORKSPACE_BYTES,
			(kwhy_cublas_stream)(void *)product->stream),
		"multiply", error);
}

/* --- Opening --- */

static enum kwhy_status open_library(struct lab_decode_products *products, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = products->gpu;
	uint64_t bytes = WORKSPACE_BYTES;
	size_t version;
	enum kwhy_status status = strcmp(gpu->ops->name, "cuda") == 0
		? kwhy_cublaslt_open(&products->lt, error)
		: kwhy_fail(error, KWHY_E_UNSUPPORTED, "cuBLASLt, which makes products, works on CUDA alone");

	if (status)
		return status;
	version = products->lt.cublasLtGetVersion();
	snprintf(products->name, sizeof(products->name), "cuBLASLt %zu.%zu.%zu", version / 10000,
		version / 100 % 100, version % 100);
	status = check(products, products->lt.cublasLtCreate(&products->handle), "begin with", error);
	if (!status)
		status = check(products, products->lt.cublasLtMatmulPreferenceCreate(&products->wish),
			"begin with", error);
	if (!status)
		status = check(products,
			products->lt.cublasLtMatmulPreferenceSetAttribute(
				products->wish, KWHY_CUBLASLT_WORKSPACE_MOST, &bytes, sizeof(bytes)),
			"take a workspace for", error);
	return status ? status : gpu->ops->memory_new(gpu, bytes, &products->workspace, error);
}

enum kwhy_status lab_decode_products_open(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module,
	enum lab_decode_weights weights, struct lab_decode_products **out, struct kwhy_error *error)
{
	struct lab_decode_products *products = calloc(1, sizeof(*products));
	enum kwhy_status status;

	if (!products)
		return kwhy_fail_memory(error, "the plans of products");
	products->gpu = gpu;
	products->weights = weights;
	if (strcmp(gpu->ops->name, "host") == 0) {
		snprintf(products->name, sizeof(products->name), "the host");
		status = gpu->ops->kernel_find(gpu, module, "lab_decode_multiply", &products->on_host, error);
	} else {
		status = open_library(products, error);
	}
	if (status)
		lab_decode_products_close(products);
	else
		*out = products;
	return status;
}

static void free_plan(const struct kwhy_cublaslt *lt, const struct plan *plan)
{
	if (plan->product)
		(void)lt->cublasLtMatmulDescDestroy(plan->product);
	if (plan->weights)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->weights);
	if (plan->acts)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->acts);
	if (plan->sums)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->sums);
}

void lab_decode_products_close(struct lab_decode_products *products)
{
	if (!products)
		return;
	for (uint32_t i = 0; i < products->plan_count; i++)
		free_plan(&products->lt, &products->plans[i]);
	if (products->wish)
		(void)products->lt.cublasLtMatmulPreferenceDestroy(products->wish);
	if (products->handle)
		(void)products->lt.cublasLtDestroy(products->handle);
	products->gpu->ops->memory_free(products->gpu, products->workspace);
	kwhy_cublaslt_close(&products->lt);
	free(products);
}
