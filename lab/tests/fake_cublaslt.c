/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuBLASLt on the fake CUDA driver, whose device memory is host memory: a product is a kernel of the driver,
 * so that streams and graphs hold it as they hold others. It knows what lab/blaslt.c asks for: factors as
 * they are or transposed, biases, ReLU. KWHY_FAKE_CUBLASLT=refuses: it finds no way to multiply.
 */
#include "lab/blaslt.h"
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
	int32_t transposed_a, transposed_b, epilogue;
	const void *biases;
};

struct kwhy_cublaslt_layout_opaque {
	enum kwhy_cublaslt_type type;
	uint64_t rows, columns, stride;
};

struct kwhy_cublaslt_wish_opaque {
	uint64_t workspace;
};

static enum lab_number number_of(enum kwhy_cublaslt_type type)
{
	return type == KWHY_CUBLASLT_FLOAT32	 ? LAB_FP32
		: type == KWHY_CUBLASLT_BFLOAT16 ? LAB_BF16
						 : LAB_FP16;
}

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
	give(lab_product_host_kernels);
	*handle = calloc(1, sizeof(**handle));
	if (!*handle)
		return KWHY_CUBLAS_ALLOC_FAILED;
	return load_module(&(*handle)->module, "") ||
			get(&(*handle)->function, (*handle)->module, lab_product_host_kernels[0].name)
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
	void *to = attribute == KWHY_CUBLASLT_TRANSPOSE_A ? (void *)&product->transposed_a
		: attribute == KWHY_CUBLASLT_TRANSPOSE_B  ? (void *)&product->transposed_b
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
	if (a->type != b->type || c->type != d->type || !product->biases != !product->epilogue || most < 2)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	choices[0] = (struct kwhy_cublaslt_choice){.algorithm = {{1}}};
	choices[1] = (struct kwhy_cublaslt_choice){
		.algorithm = {{2}}, .workspace_bytes = (size_t)wish->workspace + 1};
	*count = 2;
	return KWHY_CUBLAS_SUCCESS;
}

/* Column by column d = a b; row by row, as the host's kernel takes them, its transpose: the factors change
 * places. */
static struct lab_product_call call_of(kwhy_cublaslt_product product, kwhy_cublaslt_layout a,
	kwhy_cublaslt_layout b, kwhy_cublaslt_layout d, bool adds)
{
	enum lab_number factors = number_of(a->type);

	return (struct lab_product_call){{.m = (uint32_t)d->columns,
		.n = (uint32_t)d->rows,
		.k = (uint32_t)(product->transposed_a ? a->rows : a->columns),
		.left_turned = product->transposed_b,
		.right_turned = product->transposed_a,
		.adds = adds,
		.factors = product->compute == KWHY_CUBLAS_COMPUTE_FAST_TF32 ? LAB_TF32 : factors,
		.out = number_of(d->type),
		.epilogue = product->epilogue == KWHY_CUBLASLT_RELU_BIAS ? LAB_BIAS_AND_RELU
			: product->epilogue				 ? LAB_BIAS
									 : LAB_NO_EPILOGUE}};
}

/* Whether a matrix is so large, without gaps. */
static bool is_of(kwhy_cublaslt_layout layout, uint64_t rows, uint64_t columns, int32_t transposed)
{
	return layout->stride == layout->rows && layout->rows == (transposed ? columns : rows) &&
		layout->columns == (transposed ? rows : columns);
}

enum kwhy_cublas_result cublasLtMatmul(kwhy_cublaslt_handle handle, kwhy_cublaslt_product product,
	const void *alpha, const void *a, kwhy_cublaslt_layout a_layout, const void *b,
	kwhy_cublaslt_layout b_layout, const void *beta, const void *c, kwhy_cublaslt_layout c_layout,
	void *d, kwhy_cublaslt_layout d_layout, const struct kwhy_cublaslt_algorithm *algorithm,
	void *workspace, size_t workspace_bytes, kwhy_cublas_stream stream)
{
	struct lab_product_call call = call_of(
		product, a_layout, b_layout, d_layout, *(const float *)beta != 0);
	void *arguments[] = {&call};
	__typeof__(cuLaunchKernel) *launch;

	call.at = (struct lab_operands){kwhy_gpu_address(b), kwhy_gpu_address(a), kwhy_gpu_address(d),
		kwhy_gpu_address(product->biases)};
	if (c != d || c_layout != d_layout || *(const float *)alpha != 1 || algorithm->data[0] != 1 ||
		!is_of(a_layout, d_layout->rows, call.product.k, product->transposed_a) ||
		!is_of(b_layout, call.product.k, d_layout->columns, product->transposed_b) ||
		!is_of(d_layout, d_layout->rows, d_layout->columns, 0) || !workspace || !workspace_bytes)
		return KWHY_CUBLAS_EXECUTION_FAILED;
	find("cuLaunchKernel", &launch);
	return launch(handle->function, 1, 1, 1, 1, 1, 1, 0, (kwhy_cuda_stream)(void *)stream, arguments,
		       NULL)
		? KWHY_CUBLAS_EXECUTION_FAILED
		: KWHY_CUBLAS_SUCCESS;
}
