/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/blaslt.h"
#include "lab/next.h"

#include "vendor/cublaslt.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	/* bytes of workspace that cuBLASLt's documentation recommends for the newest GPUs */
	WORKSPACE_BYTES = 32 << 20,
	/*
	 * largest number of algorithms that are requested from the library, which returns those first that
	 * it expects to be fastest
	 */
	CHOICES = 8,
	TRIALS = 4, /* timed trials of each algorithm */
	PLANS_MAX = 64
};

struct lab_blaslt_plan {
	struct lab_product product;
	kwhy_cublaslt_product described;
	kwhy_cublaslt_layout layouts[3]; /* layouts of left, right and out in memory */
	struct kwhy_cublaslt_algorithm algorithm;
};

struct lab_blaslt {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
	char name[32];
	struct lab_blaslt_plan plans[PLANS_MAX];
	uint32_t plan_count;
	/* On the host back end: */
	struct kwhy_gpu_module *module;
	/* the kernel that makes the products; NULL on CUDA, where cuBLASLt makes them */
	const struct kwhy_gpu_kernel *kernel;
	/* On CUDA only. `workspace`: device address of WORKSPACE_BYTES bytes. */
	struct kwhy_cublaslt lt;
	kwhy_cublaslt_handle handle;
	kwhy_cublaslt_wish wish;
	struct kwhy_gpu_event *start, *end;
	uint64_t workspace;
};

static enum kwhy_status check(const struct lab_blaslt *blaslt, enum kwhy_cublas_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLASLt cannot %s: %s; CUBLASLT_LOG_LEVEL=5 says more", what,
		blaslt->lt.cublasLtGetStatusString(result));
}

/* --- Opening --- */

static enum kwhy_status open_host(struct lab_blaslt *blaslt, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {
		.title = "products", .text = "", .on_host = lab_product_host_kernels};
	const struct kwhy_gpu_ops *ops = blaslt->gpu->ops;
	enum kwhy_status status = ops->module_new(blaslt->gpu, &source, &blaslt->module, error);

	snprintf(blaslt->name, sizeof(blaslt->name), "the host");
	return status ? status
		      : ops->kernel_find(blaslt->gpu, blaslt->module, lab_product_host_kernels[0].name,
				&blaslt->kernel, error);
}

static enum kwhy_status begin_library(struct lab_blaslt *blaslt, struct kwhy_error *error)
{
	const struct kwhy_cublaslt *lt = &blaslt->lt;
	uint64_t bytes = WORKSPACE_BYTES;
	size_t version = lt->cublasLtGetVersion();
	enum kwhy_cublas_result result = lt->cublasLtCreate(&blaslt->handle);

	snprintf(blaslt->name, sizeof(blaslt->name), "cuBLASLt %zu.%zu.%zu", version / 10000,
		version / 100 % 100, version % 100);
	if (!result)
		result = lt->cublasLtMatmulPreferenceCreate(&blaslt->wish);
	if (!result)
		result = lt->cublasLtMatmulPreferenceSetAttribute(
			blaslt->wish, KWHY_CUBLASLT_WORKSPACE_MAX, &bytes, sizeof(bytes));
	return check(blaslt, result, "begin", error);
}

static enum kwhy_status open_library(struct lab_blaslt *blaslt, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = blaslt->gpu;
	enum kwhy_status status = kwhy_cublaslt_open(&blaslt->lt, error);

	NEXT(status, begin_library(blaslt, error));
	NEXT(status, gpu->ops->memory_new(gpu, WORKSPACE_BYTES, &blaslt->workspace, error));
	NEXT(status, gpu->ops->event_new(gpu, true, &blaslt->start, error));
	return status ? status : gpu->ops->event_new(gpu, true, &blaslt->end, error);
}

static enum kwhy_status open_any(struct lab_blaslt *blaslt, struct kwhy_error *error)
{
	const char *backend = blaslt->gpu->ops->name;

	if (strcmp(backend, "host") == 0)
		return open_host(blaslt, error);
	if (strcmp(backend, "cuda") == 0)
		return open_library(blaslt, error);
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "cuBLASLt works on CUDA alone, not on %s", backend);
}

enum kwhy_status lab_blaslt_open(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct lab_blaslt **out, struct kwhy_error *error)
{
	struct lab_blaslt *blaslt = calloc(1, sizeof(*blaslt));
	enum kwhy_status status;

	if (!blaslt)
		return kwhy_fail_memory(error, "a library's plans");
	blaslt->gpu = gpu;
	blaslt->stream = stream;
	status = open_any(blaslt, error);
	if (status)
		lab_blaslt_close(blaslt);
	else
		*out = blaslt;
	return status;
}

static void free_plan(const struct kwhy_cublaslt *lt, const struct lab_blaslt_plan *plan)
{
	if (plan->described)
		(void)lt->cublasLtMatmulDescDestroy(plan->described);
	for (size_t i = 0; i < 3; i++)
		if (plan->layouts[i])
			(void)lt->cublasLtMatrixLayoutDestroy(plan->layouts[i]);
}

void lab_blaslt_close(struct lab_blaslt *blaslt)
{
	const struct kwhy_gpu_ops *ops;

	if (!blaslt)
		return;
	ops = blaslt->gpu->ops;
	for (uint32_t i = 0; i < blaslt->plan_count; i++)
		free_plan(&blaslt->lt, &blaslt->plans[i]);
	if (blaslt->wish)
		(void)blaslt->lt.cublasLtMatmulPreferenceDestroy(blaslt->wish);
	if (blaslt->handle)
		(void)blaslt->lt.cublasLtDestroy(blaslt->handle);
	ops->event_free(blaslt->gpu, blaslt->start);
	ops->event_free(blaslt->gpu, blaslt->end);
	ops->memory_free(blaslt->gpu, blaslt->workspace);
	ops->module_free(blaslt->gpu, blaslt->module);
	kwhy_cublaslt_close(&blaslt->lt);
	free(blaslt);
}

const char *lab_blaslt_name(const struct lab_blaslt *blaslt)
{
	return blaslt->name;
}

/* --- Products --- */

static enum kwhy_status multiply_on_host(const struct lab_blaslt *blaslt, const struct lab_product *product,
	const struct lab_operands *at, struct kwhy_error *error)
{
	struct lab_product_call call = {*product, *at};
	void *arguments[] = {&call};
	const struct kwhy_gpu_launch launch = {.kernel = blaslt->kernel,
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = blaslt->stream};

	return blaslt->gpu->ops->launch(blaslt->gpu, &launch, error);
}

/*
 * cuBLASLt stores matrices column by column, kwhy-lab row by row, so the library sees every matrix
 * transposed. The transpose of a product is the product of the transposed factors in reverse order.
 * Therefore the factors are passed in reverse order.
 */
enum kwhy_status lab_blaslt_multiply(struct lab_blaslt *blaslt, const struct lab_blaslt_plan *plan,
	const struct lab_operands *at, struct kwhy_error *error)
{
	const float one = 1, old = plan->product.adds ? 1 : 0;
	const int32_t whole_one = 1, whole_old = plan->product.adds ? 1 : 0;
	bool is_whole = plan->product.out == LAB_INT32;

	if (blaslt->kernel)
		return multiply_on_host(blaslt, &plan->product, at, error);
	return check(blaslt,
		blaslt->lt.cublasLtMatmul(blaslt->handle, plan->described,
			is_whole ? (const void *)&whole_one : &one, kwhy_gpu_at(at->right), plan->layouts[1],
			kwhy_gpu_at(at->left), plan->layouts[0], is_whole ? (const void *)&whole_old : &old,
			kwhy_gpu_at(at->out), plan->layouts[2], kwhy_gpu_at(at->out), plan->layouts[2],
			&plan->algorithm, kwhy_gpu_at(blaslt->workspace), WORKSPACE_BYTES,
			(kwhy_cublas_stream)(void *)blaslt->stream),
		"multiply", error);
}

/* --- Plans --- */

static const enum kwhy_cublaslt_type types[LAB_NUMBER_COUNT] = {KWHY_CUBLASLT_FLOAT32, KWHY_CUBLASLT_FLOAT32,
	KWHY_CUBLASLT_BFLOAT16, KWHY_CUBLASLT_FLOAT16, KWHY_CUBLASLT_FLOAT8_E4M3, KWHY_CUBLASLT_INT8,
	KWHY_CUBLASLT_INT32};

static enum kwhy_cublas_compute compute_of(enum lab_number factors)
{
	return factors == LAB_TF32    ? KWHY_CUBLAS_COMPUTE_FAST_TF32
		: factors == LAB_INT8 ? KWHY_CUBLAS_COMPUTE_INT32
				      : KWHY_CUBLAS_COMPUTE_FP32;
}

static enum kwhy_cublas_result turn(const struct kwhy_cublaslt *lt, const struct lab_blaslt_plan *plan,
	enum kwhy_cublaslt_attribute attribute)
{
	const int32_t turned = KWHY_CUBLAS_TRANSPOSED;

	return lt->cublasLtMatmulDescSetAttribute(plan->described, attribute, &turned, sizeof(turned));
}

static enum kwhy_status describe(
	const struct lab_blaslt *blaslt, struct lab_blaslt_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_cublaslt *lt = &blaslt->lt;
	const struct lab_product *p = &plan->product;
	const struct {
		enum lab_number type;
		uint32_t rows, columns;
	} matrices[] = {{p->factors, p->left_turned ? p->k : p->m, p->left_turned ? p->m : p->k},
		{p->factors, p->right_turned ? p->n : p->k, p->right_turned ? p->k : p->n},
		{p->out, p->m, p->n}};
	enum kwhy_cublas_result result = lt->cublasLtMatmulDescCreate(&plan->described,
		compute_of(p->factors), p->out == LAB_INT32 ? KWHY_CUBLASLT_INT32 : KWHY_CUBLASLT_FLOAT32);

	if (!result && p->right_turned)
		result = turn(lt, plan, KWHY_CUBLASLT_TRANSPOSE_A);
	if (!result && p->left_turned)
		result = turn(lt, plan, KWHY_CUBLASLT_TRANSPOSE_B);
	for (size_t i = 0; !result && i < 3; i++)
		result = lt->cublasLtMatrixLayoutCreate(&plan->layouts[i], types[matrices[i].type],
			matrices[i].columns, matrices[i].rows, matrices[i].columns);
	return check(blaslt, result, "describe a product", error);
}

/* Times TRIALS products after one that is not timed. *out_ns: time of all TRIALS products together. */
static enum kwhy_status try_plan(struct lab_blaslt *blaslt, const struct lab_blaslt_plan *plan,
	const struct lab_operands *trial, double *out_ns, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = blaslt->gpu;
	enum kwhy_status status = lab_blaslt_multiply(blaslt, plan, trial, error);

	NEXT(status, gpu->ops->event_record(gpu, blaslt->start, blaslt->stream, error));
	for (uint32_t i = 0; !status && i < TRIALS; i++)
		status = lab_blaslt_multiply(blaslt, plan, trial, error);
	NEXT(status, gpu->ops->event_record(gpu, blaslt->end, blaslt->stream, error));
	NEXT(status, gpu->ops->event_synchronize(gpu, blaslt->end, error));
	return status ? status : gpu->ops->event_elapsed_ns(gpu, blaslt->start, blaslt->end, out_ns, error);
}

static enum kwhy_status take_quickest(struct lab_blaslt *blaslt, struct lab_blaslt_plan *plan,
	const struct lab_operands *trial, const struct kwhy_cublaslt_choice *choices, int count,
	struct kwhy_error *error)
{
	struct lab_blaslt_plan tried = *plan;
	double least_ns = INFINITY, ns;
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < count; i++) {
		if (choices[i].state || choices[i].workspace_bytes > WORKSPACE_BYTES)
			continue;
		tried.algorithm = choices[i].algorithm;
		ns = i;
		if (trial)
			status = try_plan(blaslt, &tried, trial, &ns, error);
		if (!status && ns < least_ns) {
			least_ns = ns;
			plan->algorithm = choices[i].algorithm;
		}
	}
	if (!status && least_ns == INFINITY)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"cuBLASLt has no algorithm to multiply %u x %u by %u x %u", plan->product.m,
			plan->product.k, plan->product.k, plan->product.n);
	return status;
}

static enum kwhy_status choose(struct lab_blaslt *blaslt, struct lab_blaslt_plan *plan,
	const struct lab_operands *trial, struct kwhy_error *error)
{
	struct kwhy_cublaslt_choice choices[CHOICES];
	int count = 0;
	enum kwhy_status status = describe(blaslt, plan, error);

	NEXT(status,
		check(blaslt,
			blaslt->lt.cublasLtMatmulAlgoGetHeuristic(blaslt->handle, plan->described,
				plan->layouts[1], plan->layouts[0], plan->layouts[2], plan->layouts[2],
				blaslt->wish, CHOICES, choices, &count),
			"find an algorithm to multiply", error));
	return status ? status : take_quickest(blaslt, plan, trial, choices, count, error);
}

static const struct lab_blaslt_plan *find(const struct lab_blaslt *blaslt, const struct lab_product *product)
{
	for (uint32_t i = 0; i < blaslt->plan_count; i++) {
		const struct lab_product *p = &blaslt->plans[i].product;

		if (p->m == product->m && p->n == product->n && p->k == product->k &&
			p->left_turned == product->left_turned && p->right_turned == product->right_turned &&
			p->adds == product->adds && p->factors == product->factors && p->out == product->out)
			return &blaslt->plans[i];
	}
	return NULL;
}

enum kwhy_status lab_blaslt_plan(struct lab_blaslt *blaslt, const struct lab_product *product,
	const struct lab_operands *trial, const struct lab_blaslt_plan **out, struct kwhy_error *error)
{
	struct lab_blaslt_plan *plan = &blaslt->plans[blaslt->plan_count];
	enum kwhy_status status;

	*out = find(blaslt, product);
	if (*out)
		return KWHY_OK;
	if (blaslt->plan_count == PLANS_MAX)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "more than %d products", PLANS_MAX);
	blaslt->plan_count++;
	plan->product = *product;
	status = blaslt->kernel ? KWHY_OK : choose(blaslt, plan, trial, error);
	if (!status)
		*out = plan;
	return status;
}
