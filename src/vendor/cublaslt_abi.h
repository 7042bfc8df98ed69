/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUBLASLT_ABI_H
#define KWHY_VENDOR_CUBLASLT_ABI_H

#include <stddef.h>
#include <stdint.h>

/*
 * The functions of cuBLASLt, from version 12 on, that kwhy calls, declared by hand from its public
 * documentation.
 */

enum kwhy_cublas_result {
	KWHY_CUBLAS_SUCCESS = 0,
	KWHY_CUBLAS_ALLOC_FAILED = 3,
	KWHY_CUBLAS_EXECUTION_FAILED = 13
};
enum kwhy_cublas_operation { KWHY_CUBLAS_AS_IT_IS = 0, KWHY_CUBLAS_TRANSPOSED = 1 };
enum kwhy_cublas_compute {
	KWHY_CUBLAS_COMPUTE_FP32 = 68,
	KWHY_CUBLAS_COMPUTE_INT32 = 72,
	KWHY_CUBLAS_COMPUTE_FAST_TF32 = 77
};
enum kwhy_cublaslt_type { /* data types, with the values of cudaDataType_t */
	KWHY_CUBLASLT_FLOAT32 = 0,
	KWHY_CUBLASLT_FLOAT16 = 2,
	KWHY_CUBLASLT_INT8 = 3,
	KWHY_CUBLASLT_INT32 = 10,
	KWHY_CUBLASLT_BFLOAT16 = 14,
	KWHY_CUBLASLT_FLOAT8_E4M3 = 28
};
enum kwhy_cublaslt_attribute {	       /* attributes of the description of a product */
	KWHY_CUBLASLT_TRANSPOSE_A = 3, /* an int32_t with a value of enum kwhy_cublas_operation */
	KWHY_CUBLASLT_TRANSPOSE_B = 4
};
enum kwhy_cublaslt_preference { KWHY_CUBLASLT_WORKSPACE_MAX = 1 }; /* a uint64_t, in bytes */

typedef struct CUstream_st *kwhy_cublas_stream;
typedef struct cublasLtContext *kwhy_cublaslt_handle;
typedef struct kwhy_cublaslt_product_opaque *kwhy_cublaslt_product;
typedef struct kwhy_cublaslt_layout_opaque *kwhy_cublaslt_layout;
typedef struct kwhy_cublaslt_wish_opaque *kwhy_cublaslt_wish;

struct kwhy_cublaslt_algorithm {
	uint64_t data[8];
};

struct kwhy_cublaslt_choice {
	struct kwhy_cublaslt_algorithm algorithm;
	size_t workspace_bytes;
	enum kwhy_cublas_result state;
	float waves;
	int reserved[4];
};

enum kwhy_cublas_result cublasLtCreate(kwhy_cublaslt_handle *handle);
enum kwhy_cublas_result cublasLtDestroy(kwhy_cublaslt_handle handle);
size_t cublasLtGetVersion(void);
const char *cublasLtGetStatusString(enum kwhy_cublas_result result);
enum kwhy_cublas_result cublasLtMatmulDescCreate(
	kwhy_cublaslt_product *product, enum kwhy_cublas_compute compute, enum kwhy_cublaslt_type scale);
enum kwhy_cublas_result cublasLtMatmulDescDestroy(kwhy_cublaslt_product product);
enum kwhy_cublas_result cublasLtMatmulDescSetAttribute(kwhy_cublaslt_product product,
	enum kwhy_cublaslt_attribute attribute, const void *value, size_t bytes);
enum kwhy_cublas_result cublasLtMatrixLayoutCreate(kwhy_cublaslt_layout *layout, enum kwhy_cublaslt_type type,
	uint64_t rows, uint64_t columns, int64_t stride);
enum kwhy_cublas_result cublasLtMatrixLayoutDestroy(kwhy_cublaslt_layout layout);
enum kwhy_cublas_result cublasLtMatmulPreferenceCreate(kwhy_cublaslt_wish *wish);
enum kwhy_cublas_result cublasLtMatmulPreferenceDestroy(kwhy_cublaslt_wish wish);
enum kwhy_cublas_result cublasLtMatmulPreferenceSetAttribute(
	kwhy_cublaslt_wish wish, enum kwhy_cublaslt_preference attribute, const void *value, size_t bytes);
enum kwhy_cublas_result cublasLtMatmulAlgoGetHeuristic(kwhy_cublaslt_handle handle,
	kwhy_cublaslt_product product, kwhy_cublaslt_layout a, kwhy_cublaslt_layout b, kwhy_cublaslt_layout c,
	kwhy_cublaslt_layout d, kwhy_cublaslt_wish wish, int most, struct kwhy_cublaslt_choice *choices,
	int *count);
/* Computes d = alpha a b + beta c. Matrices are stored column by column. */
enum kwhy_cublas_result cublasLtMatmul(kwhy_cublaslt_handle handle, kwhy_cublaslt_product product,
	const void *alpha, const void *a, kwhy_cublaslt_layout a_layout, const void *b,
	kwhy_cublaslt_layout b_layout, const void *beta, const void *c, kwhy_cublaslt_layout c_layout,
	void *d, kwhy_cublaslt_layout d_layout, const struct kwhy_cublaslt_algorithm *algorithm,
	void *workspace, size_t workspace_bytes, kwhy_cublas_stream stream);

#endif
