/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_GPU_CONTRACT_H
#define KWHY_TESTS_UNIT_GPU_CONTRACT_H

#include "cmocka_all.h"
#include "gpu/gpu.h"

/*
 * Shared by the source files of contract_test, which tests a back end. Its command line: contract_test
 * BACKEND [LIBRARY].
 */
enum { VALUES = 1000, BYTES = VALUES * sizeof(uint32_t) };

extern enum kwhy_gpu_backend backend;
extern const char *library; /* the fake driver to test with; NULL: a real GPU or the host back end */
extern struct kwhy_error failure;
extern struct kwhy_gpu *gpu; /* opened for each test */
extern const struct kwhy_gpu_ops *ops;
extern const struct kwhy_gpu_source source; /* source of the kernels "step" and "nothing" */
extern const struct kwhy_gpu_host_kernel kernels[];

/* The first argument of the kernel "step"; its second argument is a uint16_t, the summand. */
struct by_value {
	uint64_t values;
	uint32_t count, factor, rest[5];
};

void succeeds(enum kwhy_status status);
uint64_t device_memory(void); /* allocates device memory of BYTES bytes, returns its address */

/* Tests in contract_failures.c. */
void more_than_there_is_is_refused(void **state);
void a_lost_gpu_is_lost_for_good(void **state);
void every_call_that_fails_is_told_and_named(void **state);

#endif
