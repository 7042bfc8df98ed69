// SPDX-License-Identifier: Apache-2.0
// What programs that time copies share: a stream that a kernel holds until the latch is set, two events in it, and the host's clock.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define MUST(call) \
	do { \
		cudaError_t status_ = (call); \
		if (status_ != cudaSuccess) { \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_)); \
			exit(1); \
		} \
	} while (0)

static __global__ void spin(volatile int *latch)
{
	while (!*latch)
		;
}

static cudaStream_t stream;
static cudaEvent_t first, last;
static int *latch;

static double microseconds()
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
