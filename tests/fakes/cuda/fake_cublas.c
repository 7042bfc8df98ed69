/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuBLAS on the fake CUDA driver, whose device memory is host memory: a product is a kernel of the driver, so
 * that streams and graphs hold it as they hold others. It rounds nothing: TF32 and bfloat16 come out as fp32.
 */
#include "gpu/gpu.h"
#include "vendor/cublas_abi.h"
#include "vendor/cuda_abi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cublasContext {
	kwhy_cuda_module module;
	kwhy_cuda_function function;
	kwhy_cuda_stream stream;
};

/* A factor lies along the inner dimension, where the other way of laying it out is across. */
struct factor {
	const void *memory;
	size_t stride;
	bool along, half;
};

struct product {
	struct factor left, right;
	float *out;
	size_t rows, columns, inner, out_stride;
};

static float value_of(const struct factor *factor, size_t outer, size_t k)
{
	size_t place = factor->along ? outer * factor->stride + k : k * factor->stride + outer;
	uint32_t bits;
	float value;

	if (!factor->half)
		return ((const float *)factor->memory)[place];
	bits = (uint32_t)((const uint16_t *)factor->memory)[place] << 16;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void run(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct product *p = arguments[0];

	(void)grid;
	for (size_t j = 0; j < p->columns; j++)
		for (size_t i = 0; i < p->rows; i++) {
			float sum = 0;

			for (size_t k = 0; k < p->inner; k++)
				sum += value_of(&p->left, i, k) * value_of(&p->right, j, k);
			p->out[j * p->out_stride + i] = sum;
		}
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"fake_product", run, {sizeof(struct product)}}, {0}};

/* Of the driver that is loaded. */
static void find(const char *name, void *out_function)
{
	void *address = dlsym(RTLD_DEFAULT, name),
	     *driver = address ? NULL : dlopen("libcuda.so.1", RTLD_NOW);

	address = address ? address : dlsym(driver, name);
	memcpy(out_function, &address, sizeof(address));
}

const char *cublasGetStatusString(enum kwhy_cublas_result result)
{
	return result ? "fake trouble" : "no error";
}

enum kwhy_cublas_result cublasCreate_v2(kwhy_cublas_handle *handle)
{
	void (*give)(const struct kwhy_gpu_host_kernel *kernels);
	__typeof__(cuModuleLoadData) *load;
	__typeof__(cuModuleGetFunction) *get;

	find("kwhy_fake_gpu_kernels", &give);
	find("cuModuleLoadData", &load);
	find("cuModuleGetFunction", &get);
	give(kernels);
	*handle = calloc(1, sizeof(**handle));
	if (!*handle)
		return KWHY_CUBLAS_ALLOC_FAILED;
	return load(&(*handle)->module, "") || get(&(*handle)->function, (*handle)->module, kernels[0].name)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasDestroy_v2(kwhy_cublas_handle handle)
{
	__typeof__(cuModuleUnload) *unload;

	find("cuModuleUnload", &unload);
	unload(handle->module);
	free(handle);
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasGetVersion_v2(kwhy_cublas_handle handle, int *version)
{
	(void)handle;
	*version = 130002;
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasSetStream_v2(kwhy_cublas_handle handle, kwhy_cublas_stream stream)
{
	handle->stream = (kwhy_cuda_stream)(void *)stream;
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasSetWorkspace_v2(kwhy_cublas_handle handle, void *workspace, size_t bytes)
{
	(void)handle;
	(void)workspace;
	(void)bytes;
	return KWHY_CUBLAS_SUCCESS;
}

enum kwhy_cublas_result cublasGemmEx(kwhy_cublas_handle handle, enum kwhy_cublas_operation a_operation,
	enum kwhy_cublas_operation b_operation, int rows, int columns, int inner, const void *alpha,
	const void *a, enum kwhy_cublas_type a_type, int a_stride, const void *b,
	enum kwhy_cublas_type b_type, int b_stride, const void *beta, void *c, enum kwhy_cublas_type c_type,
	int c_stride, enum kwhy_cublas_compute compute, enum kwhy_cublas_algorithm algorithm)
{
	struct product product = {
		{a, (size_t)a_stride, a_operation == KWHY_CUBLAS_TRANSPOSED, a_type == KWHY_CUBLAS_BFLOAT16},
		{b, (size_t)b_stride, b_operation == KWHY_CUBLAS_AS_IT_IS, b_type == KWHY_CUBLAS_BFLOAT16}, c,
		(size_t)rows, (size_t)columns, (size_t)inner, (size_t)c_stride};
	void *arguments[] = {&product};
	__typeof__(cuLaunchKernel) *launch;

	if (a_type != b_type || c_type || *(const float *)alpha != 1.0f || *(const float *)beta != 0.0f ||
		algorithm != KWHY_CUBLAS_DEFAULT || a_stride < (a_operation ? inner : rows) ||
		b_stride < (b_operation ? columns : inner) || c_stride < rows || !handle ||
		compute < KWHY_CUBLAS_COMPUTE_FP32)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	find("cuLaunchKernel", &launch);
	return launch(handle->function, 1, 1, 1, 1, 1, 1, 0, handle->stream, arguments, NULL)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}
