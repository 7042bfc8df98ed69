/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake of cuBLASLt for the fake CUDA driver, whose device memory is host memory. A product is launched as a
 * kernel of that driver, so it works in streams and graphs. The fake supports the products that kwhy-lab
 * makes: factors as they are or transposed, with or without adding to the output. It refuses what the
 * documentation excludes: 8 bits unless the first factor is transposed and the second is not, with sizes that
 * are not multiples of 16 or with 16 columns or fewer; and int8 unless sums and scaling factors are int32.
 * With KWHY_FAKE_CUBLASLT set, it finds no algorithm for any product.
 */
#include "gpu/gpu.h"
#include "lab/numbers.h"
#include "vendor/cublaslt_abi.h"
#include "vendor/cuda_abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct cublasLtContext {
	kwhy_cuda_module module;
	kwhy_cuda_function function;
};

struct kwhy_cublaslt_product_opaque {
	enum kwhy_cublas_compute compute;
	enum kwhy_cublaslt_type scale;
	int32_t transposed_a, transposed_b;
};

struct kwhy_cublaslt_layout_opaque {
	enum kwhy_cublaslt_type type;
	uint64_t rows, columns, stride;
};

struct kwhy_cublaslt_wish_opaque {
	uint64_t workspace;
};

struct numbers {
	void *memory;
	uint64_t type, stride;
	int32_t is_across; /* 0: the numbers of one sum are adjacent in memory; 1: they are `stride` apart */
	int32_t is_tf32;
};

struct call {
	struct numbers left, right, out;
	uint64_t rows, columns, inner;
	int32_t adds;
};

static enum lab_number type_of(uint64_t type)
{
	switch (type) {
	case KWHY_CUBLASLT_FLOAT16:
		return LAB_FP16;
	case KWHY_CUBLASLT_BFLOAT16:
		return LAB_BF16;
	case KWHY_CUBLASLT_FLOAT8_E4M3:
		return LAB_FP8;
	case KWHY_CUBLASLT_INT8:
		return LAB_INT8;
	case KWHY_CUBLASLT_INT32:
		return LAB_INT32;
	default:
		return LAB_FP32;
	}
}

/*
 * Reads a factor as `count` lists of `inner` floats: list j has the numbers that are multiplied for row j
 * (left factor) or column j (right factor) of the output. Freed by the caller.
 */
static float *floats_of(const struct numbers *numbers, uint64_t count, uint64_t inner)
{
	float *all = malloc(count * inner * sizeof(*all));

	for (uint64_t j = 0; all && j < count; j++)
		for (uint64_t k = 0; k < inner; k++) {
			float value = lab_number_get(type_of(numbers->type), numbers->memory,
				numbers->is_across ? k * numbers->stride + j : j * numbers->stride + k);

			all[j * inner + k] = numbers->is_tf32 ? lab_to_tf32(value) : value;
		}
	return all;
}

static void run(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call *c = arguments[0];
	float *left = floats_of(&c->left, c->rows, c->inner),
	      *right = floats_of(&c->right, c->columns, c->inner);

	(void)grid;
	for (uint64_t j = 0; left && right && j < c->columns; j++)
		for (uint64_t i = 0; i < c->rows; i++) {
			float sum = 0;

			for (uint64_t k = 0; k < c->inner; k++)
				sum += left[i * c->inner + k] * right[j * c->inner + k];
			if (c->adds)
				sum += lab_number_get(
					type_of(c->out.type), c->out.memory, j * c->out.stride + i);
			lab_number_put(type_of(c->out.type), c->out.memory, j * c->out.stride + i, sum);
		}
	free(left);
	free(right);
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"fake_lt_product", run, {sizeof(struct call)}}, {0}};

/* Address of a function of the CUDA driver: of the one that is already loaded, or of libcuda.so.1. */
static void find(const char *name, void *out_function)
{
	void *address = dlsym(RTLD_DEFAULT, name),
	     *driver = address ? NULL : dlopen("libcuda.so.1", RTLD_NOW);

	address = address ? address : dlsym(driver, name);
	memcpy(out_function, &address, sizeof(address));
}

const char *cublasLtGetStatusString(enum kwhy_cublas_result result)
{
	return result ? "fake trouble" : "no error";
}

size_t cublasLtGetVersion(void)
{
	return 130002;
}

enum kwhy_cublas_result cublasLtCreate(kwhy_cublaslt_handle *handle)
{
	void (*give)(const struct kwhy_gpu_host_kernel *kernels);
	__typeof__(cuModuleLoadData) *load_module;
	__typeof__(cuModuleGetFunction) *get;

	find("kwhy_fake_gpu_kernels", &give);
	find("cuModuleLoadData", &load_module);
	find("cuModuleGetFunction", &get);
	give(kernels);
	*handle = calloc(1, sizeof(**handle));
	if (!*handle)
		return KWHY_CUBLAS_ALLOC_FAILED;
	return load_module(&(*handle)->module, "") ||
			get(&(*handle)->function, (*handle)->module, kernels[0].name)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtDestroy(kwhy_cublaslt_handle handle)
{
	__typeof__(cuModuleUnload) *unload;

	find("cuModuleUnload", &unload);
	unload(handle->module);
	free(handle);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulDescCreate(
	kwhy_cublaslt_product *product, enum kwhy_cublas_compute compute, enum kwhy_cublaslt_type scale)
{
	*product = calloc(1, sizeof(**product));
	if (!*product)
		return KWHY_CUBLAS_ALLOC_FAILED;
	(*product)->compute = compute;
	(*product)->scale = scale;
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulDescDestroy(kwhy_cublaslt_product product)
{
	free(product);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulDescSetAttribute(kwhy_cublaslt_product product,
	enum kwhy_cublaslt_attribute attribute, const void *value, size_t bytes)
{
	int32_t *to = attribute == KWHY_CUBLASLT_TRANSPOSE_A ? &product->transposed_a
							     : &product->transposed_b;

	if (attribute != KWHY_CUBLASLT_TRANSPOSE_A && attribute != KWHY_CUBLASLT_TRANSPOSE_B)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	if (bytes != sizeof(*to))
		return KWHY_CUBLAS_EXECUTION_FAILED;
	memcpy(to, value, bytes);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatrixLayoutCreate(kwhy_cublaslt_layout *layout, enum kwhy_cublaslt_type type,
	uint64_t rows, uint64_t columns, int64_t stride)
{
	*layout = malloc(sizeof(**layout));
	if (!*layout)
		return KWHY_CUBLAS_ALLOC_FAILED;
	**layout = (struct kwhy_cublaslt_layout_opaque){type, rows, columns, (uint64_t)stride};
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatrixLayoutDestroy(kwhy_cublaslt_layout layout)
{
	free(layout);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulPreferenceCreate(kwhy_cublaslt_wish *wish)
{
	*wish = calloc(1, sizeof(**wish));
	return *wish ? KWHY_CUBLAS_SUCCESS : KWHY_CUBLAS_ALLOC_FAILED;
}

enum kwhy_cublas_result cublasLtMatmulPreferenceDestroy(kwhy_cublaslt_wish wish)
{
	free(wish);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulPreferenceSetAttribute(
	kwhy_cublaslt_wish wish, enum kwhy_cublaslt_preference attribute, const void *value, size_t bytes)
{
	if (attribute != KWHY_CUBLASLT_WORKSPACE_MAX || bytes != sizeof(wish->workspace))
		return KWHY_CUBLAS_EXECUTION_FAILED;
	memcpy(&wish->workspace, value, bytes);
	return KWHY_CUBLAS_SUCCESS;
}

static int is_of_8_bits(const struct kwhy_cublaslt_layout_opaque *layout)
{
	return layout->type == KWHY_CUBLASLT_INT8 || layout->type == KWHY_CUBLASLT_FLOAT8_E4M3;
}

/* Whether cuBLASLt supports the product, by its documentation. */
static int can_multiply(
	kwhy_cublaslt_product product, kwhy_cublaslt_layout a, kwhy_cublaslt_layout b, kwhy_cublaslt_layout d)
{
	int is_whole = a->type == KWHY_CUBLASLT_INT8;
	enum kwhy_cublaslt_type sums = is_whole ? KWHY_CUBLASLT_INT32 : KWHY_CUBLASLT_FLOAT32;

	if (a->type != b->type || product->scale != sums ||
		is_whole != (product->compute == KWHY_CUBLAS_COMPUTE_INT32))
		return 0;
	if (!is_of_8_bits(a))
		return d->type == sums || d->type == a->type;
	return d->type == sums && product->transposed_a && !product->transposed_b && a->rows % 16 == 0 &&
		a->columns % 16 == 0 && b->columns % 16 == 0 && b->columns > 16;
}

/*
 * Returns two algorithms. The first needs one byte more workspace than the caller allows, so callers must not
 * use it.
 */
enum kwhy_cublas_result cublasLtMatmulAlgoGetHeuristic(kwhy_cublaslt_handle handle,
	kwhy_cublaslt_product product, kwhy_cublaslt_layout a, kwhy_cublaslt_layout b, kwhy_cublaslt_layout c,
	kwhy_cublaslt_layout d, kwhy_cublaslt_wish wish, int most, struct kwhy_cublaslt_choice *choices,
	int *count)
{
	(void)handle;
	*count = 0;
	if (getenv("KWHY_FAKE_CUBLASLT"))
		return KWHY_CUBLAS_SUCCESS;
	if (c->type != d->type || most < 2 || !can_multiply(product, a, b, d))
		return KWHY_CUBLAS_EXECUTION_FAILED;
	choices[0] = (struct kwhy_cublaslt_choice){
		.algorithm = {{2}}, .workspace_bytes = (size_t)wish->workspace + 1};
	choices[1] = (struct kwhy_cublaslt_choice){.algorithm = {{1}}};
	*count = 2;
	return KWHY_CUBLAS_SUCCESS;
}

/* Whether a matrix has the given size. */
static int is_of(kwhy_cublaslt_layout layout, uint64_t rows, uint64_t columns, int32_t transposed)
{
	return layout->rows == (transposed ? columns : rows) &&
		layout->columns == (transposed ? rows : columns);
}

/* Whether a scaling factor, which has the type of the sums, has the given value. */
static int is_scaled(int is_whole, const void *factor, int by)
{
	return is_whole ? *(const int32_t *)factor == by : *(const float *)factor == (float)by;
}

enum kwhy_cublas_result cublasLtMatmul(kwhy_cublaslt_handle handle, kwhy_cublaslt_product product,
	const void *alpha, const void *a, kwhy_cublaslt_layout a_layout, const void *b,
	kwhy_cublaslt_layout b_layout, const void *beta, const void *c, kwhy_cublaslt_layout c_layout,
	void *d, kwhy_cublaslt_layout d_layout, const struct kwhy_cublaslt_algorithm *algorithm,
	void *workspace, size_t workspace_bytes, kwhy_cublas_stream stream)
{
	uint64_t inner = product->transposed_a ? a_layout->rows : a_layout->columns;
	int32_t is_tf32 = product->compute == KWHY_CUBLAS_COMPUTE_FAST_TF32;
	int is_whole = product->scale == KWHY_CUBLASLT_INT32, adds = !is_whole && *(const float *)beta == 1;
	struct call call = {
		{(void *)(uintptr_t)a, a_layout->type, a_layout->stride, !product->transposed_a, is_tf32},
		{(void *)(uintptr_t)b, b_layout->type, b_layout->stride, product->transposed_b, is_tf32},
		{d, d_layout->type, d_layout->stride, 0, 0}, d_layout->rows, d_layout->columns, inner, adds};
	void *arguments[] = {&call};
	__typeof__(cuLaunchKernel) *launch;

	if (!is_scaled(is_whole, alpha, 1) || !(adds || is_scaled(is_whole, beta, 0)) || c != d ||
		c_layout != d_layout || algorithm->data[0] != 1 || !workspace || !workspace_bytes ||
		!is_of(a_layout, d_layout->rows, inner, product->transposed_a) ||
		!is_of(b_layout, inner, d_layout->columns, product->transposed_b))
		return KWHY_CUBLAS_EXECUTION_FAILED;
	find("cuLaunchKernel", &launch);
	return launch(handle->function, 1, 1, 1, 1, 1, 1, 0, (kwhy_cuda_stream)(void *)stream, arguments,
		       NULL)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}
