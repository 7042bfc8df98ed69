/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuBLASLt on the fake CUDA driver, whose device memory is host memory: a product is a kernel of the driver,
 * so that streams and graphs hold it as they hold others. It knows what we ask for: a transposed left factor,
 * biases, ReLU. KWHY_FAKE_CUBLASLT=refuses: it finds no way to multiply.
 */
#include "gpu/gpu.h"
#include "lab/decode/numbers.h"
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
	int32_t transposed, epilogue;
	const void *biases;
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
};

struct call {
	struct numbers left, right, out;
	const void *biases;
	uint64_t rows, columns, inner;
	int32_t epilogue;
	float old;
};

static float load(const struct numbers *numbers, uint64_t place)
{
	uint16_t half;

	if (numbers->type == KWHY_CUBLASLT_FLOAT32)
		return ((const float *)numbers->memory)[place];
	half = ((const uint16_t *)numbers->memory)[place];
	return numbers->type == KWHY_CUBLASLT_BFLOAT16 ? kwhy_decode_from_bf16(half)
						       : kwhy_decode_from_fp16(half);
}

static void store(const struct numbers *numbers, uint64_t place, float value)
{
	if (numbers->type == KWHY_CUBLASLT_FLOAT32)
		((float *)numbers->memory)[place] = value;
	else
		((uint16_t *)numbers->memory)[place] = numbers->type == KWHY_CUBLASLT_BFLOAT16
			? kwhy_decode_to_bf16(value)
			: kwhy_decode_to_fp16(value);
}

static void run(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call *c = arguments[0];
	const struct numbers biases = {(void *)(uintptr_t)c->biases, c->out.type, 0};

	(void)grid;
	for (uint64_t j = 0; j < c->columns; j++)
		for (uint64_t i = 0; i < c->rows; i++) {
			uint64_t place = j * c->out.stride + i;
			float sum = 0;

			for (uint64_t k = 0; k < c->inner; k++)
				sum += load(&c->left, i * c->left.stride + k) *
					load(&c->right, j * c->right.stride + k);
			if (c->epilogue)
				sum += load(&biases, i);
			if (c->old != 0)
				sum += c->old * load(&c->out, place);
			store(&c->out, place, c->epilogue == KWHY_CUBLASLT_RELU_BIAS && !(sum > 0) ? 0 : sum);
		}
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"fake_lt_product", run, {sizeof(struct call)}}, {0}};

/* Of the driver that is loaded. */
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
	return scale ? KWHY_CUBLAS_EXECUTION_FAILED : KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulDescDestroy(kwhy_cublaslt_product product)
{
	free(product);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmulDescSetAttribute(kwhy_cublaslt_product product,
	enum kwhy_cublaslt_attribute attribute, const void *value, size_t bytes)
{
	void *to = attribute == KWHY_CUBLASLT_TRANSPOSE_A ? (void *)&product->transposed
		: attribute == KWHY_CUBLASLT_EPILOGUE	  ? (void *)&product->epilogue
							  : (void *)&product->biases;

	if (bytes != (to == (void *)&product->biases ? 8 : 4))
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
	if (attribute != KWHY_CUBLASLT_WORKSPACE_MOST || bytes != sizeof(wish->workspace))
		return KWHY_CUBLAS_EXECUTION_FAILED;
	memcpy(&wish->workspace, value, bytes);
	return KWHY_CUBLAS_SUCCESS;
}

/* The second is refused when it is tried: its workspace is too large. */
enum kwhy_cublas_result cublasLtMatmulAlgoGetHeuristic(kwhy_cublaslt_handle handle,
	kwhy_cublaslt_product product, kwhy_cublaslt_layout a, kwhy_cublaslt_layout b, kwhy_cublaslt_layout c,
	kwhy_cublaslt_layout d, kwhy_cublaslt_wish wish, int most, struct kwhy_cublaslt_choice *choices,
	int *count)
{
	(void)handle;
	*count = 0;
	if (getenv("KWHY_FAKE_CUBLASLT"))
		return KWHY_CUBLAS_SUCCESS;
	if (a->type != b->type || c->type != d->type || product->transposed != KWHY_CUBLAS_TRANSPOSED ||
		!product->biases != !product->epilogue || most < 2)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	choices[0] = (struct kwhy_cublaslt_choice){.algorithm = {{1}}};
	choices[1] = (struct kwhy_cublaslt_choice){
		.algorithm = {{2}}, .workspace_bytes = (size_t)wish->workspace + 1};
	*count = 2;
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasLtMatmul(kwhy_cublaslt_handle handle, kwhy_cublaslt_product product,
	const void *alpha, const void *a, kwhy_cublaslt_layout a_layout, const void *b,
	kwhy_cublaslt_layout b_layout, const void *beta, const void *c, kwhy_cublaslt_layout c_layout,
	void *d, kwhy_cublaslt_layout d_layout, const struct kwhy_cublaslt_algorithm *algorithm,
	void *workspace, size_t workspace_bytes, kwhy_cublas_stream stream)
{
	struct call call = {{(void *)(uintptr_t)a, a_layout->type, a_layout->stride},
		{(void *)(uintptr_t)b, b_layout->type, b_layout->stride},
		{d, d_layout->type, d_layout->stride}, product->biases, d_layout->rows, d_layout->columns,
		a_layout->rows, product->epilogue, *(const float *)beta};
	void *arguments[] = {&call};
	__typeof__(cuLaunchKernel) *launch;

	if (c != d || c_layout != d_layout || *(const float *)alpha != 1 || algorithm->data[0] != 1 ||
		a_layout->columns != d_layout->rows || b_layout->rows != a_layout->rows ||
		b_layout->columns != d_layout->columns || !workspace || !workspace_bytes)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	find("cuLaunchKernel", &launch);
	return launch(handle->function, 1, 1, 1, 1, 1, 1, 0, (kwhy_cuda_stream)(void *)stream, arguments,
		       NULL)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}
