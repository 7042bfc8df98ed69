/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUBLAS_ABI_H
#define KWHY_VENDOR_CUBLAS_ABI_H

#include <stddef.h>

/* What we call of cuBLAS 11 and newer, declared by hand from its public documentation. */

enum kwhy_cublas_result {
	KWHY_CUBLAS_SUCCESS = 0,
	KWHY_CUBLAS_ALLOC_FAILED = 3,
	KWHY_CUBLAS_EXECUTION_FAILED = 13
};
enum kwhy_cublas_operation { KWHY_CUBLAS_AS_IT_IS = 0, KWHY_CUBLAS_TRANSPOSED = 1 };
enum kwhy_cublas_type { KWHY_CUBLAS_FLOAT32 = 0, KWHY_CUBLAS_BFLOAT16 = 14 }; /* of cudaDataType_t */
enum kwhy_cublas_compute {
	KWHY_CUBLAS_COMPUTE_FP32 = 68,
	KWHY_CUBLAS_COMPUTE_INT32 = 72,
	KWHY_CUBLAS_COMPUTE_FAST_BF16 = 75, /* operands of fp32 are rounded on the way */
	KWHY_CUBLAS_COMPUTE_FAST_TF32 = 77
};
enum kwhy_cublas_algorithm { KWHY_CUBLAS_DEFAULT = -1 };

typedef struct cublasContext *kwhy_cublas_handle;
typedef struct CUstream_st *kwhy_cublas_stream;

enum kwhy_cublas_result cublasCreate_v2(kwhy_cublas_handle *handle);
enum kwhy_cublas_result cublasDestroy_v2(kwhy_cublas_handle handle);
enum kwhy_cublas_result cublasGetVersion_v2(kwhy_cublas_handle handle, int *version);
enum kwhy_cublas_result cublasSetStream_v2(kwhy_cublas_handle handle, kwhy_cublas_stream stream);
enum kwhy_cublas_result cublasSetWorkspace_v2(kwhy_cublas_handle handle, void *workspace, size_t bytes);
const char *cublasGetStatusString(enum kwhy_cublas_result result);
/* Matrices lie column by column; alpha and beta are of the type that is computed in. */
enum kwhy_cublas_result cublasGemmEx(kwhy_cublas_handle handle, enum kwhy_cublas_operation a_operation,
	enum kwhy_cublas_operation b_operation, int rows, int columns, int inner, const void *alpha,
	const void *a, enum kwhy_cublas_type a_type, int a_stride, const void *b,
	enum kwhy_cublas_type b_type, int b_stride, const void *beta, void *c, enum kwhy_cublas_type c_type,
	int c_stride, enum kwhy_cublas_compute compute, enum kwhy_cublas_algorithm algorithm);

#endif
