/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/proxy_kernels.h"

#include "base/clock.h"
#include "launch/stop.h"

#include <string.h>
#include <time.h>

extern const char kwhy_kernels_proxy[];

enum {
	NAP_NS = 200000,
	NAP_LATE_NS = 100000,
	NAP_MAX_NS = 50000000, /* in ns: longest sleep, after which the kernel checks for an interrupt */
	LONG_NS = 1000000000   /* in ns: an interrupt ends a wait of which more than this is left */
};

static void nap(int64_t length_ns)
{
	const struct timespec time = {length_ns / 1000000000, length_ns % 1000000000};

	nanosleep(&time, NULL);
}

static void run_wait(const struct kwhy_gpu_grid *grid, void **arguments)
{
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t) * (const uint64_t *)arguments[0], left_ns;

	(void)grid;
	while ((left_ns = end_ns - kwhy_clock_mono_ns()) > 0 && !(left_ns > LONG_NS && kwhy_stop_asked()))
		if (left_ns > NAP_NS)
			nap(left_ns - NAP_LATE_NS < NAP_MAX_NS ? left_ns - NAP_LATE_NS : NAP_MAX_NS);
}

static void run_fill(const struct kwhy_gpu_grid *grid, void **arguments)
{
	void *out = kwhy_gpu_at(*(const uint64_t *)arguments[1]);

	(void)grid;
	memset(out, 0x5a, *(const uint64_t *)arguments[2] * sizeof(uint32_t));
}

#define PROXY(name)                         \
	{                                   \
		name, run_wait,             \
		{                           \
			8, 4, 4, 8, 8, 8, 8 \
		}                           \
	}

static const struct kwhy_gpu_host_kernel host_kernels[] = {
	PROXY("kwhy_proxy_wait"),
	PROXY("kwhy_proxy_fma"),
	PROXY("kwhy_proxy_memory"),
	PROXY("kwhy_proxy_matrix"),
	{"kwhy_proxy_fill", run_fill, {4, 8, 8}},
	{NULL, NULL, {0}},
};

const struct kwhy_gpu_source kwhy_proxy_source = {
	.title = "proxy.cu", .text = kwhy_kernels_proxy, .on_host = host_kernels};
