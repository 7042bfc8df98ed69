/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All kernels of kwhy and kwhy-lab, compiled as C for the host, in a library. A fake driver runs kernels of
 * the library that KWHY_FAKE_GPU_KERNELS names.
 */
#include "transfer/kernels.h"
#include "bench/ops/kernels.h"
#include "bench/pairs/testbed.h"
#include "bench/transfers/kernels.h"
#include "gpu/collectives.h"
#include "replay/proxy_kernels.h"

#include "lab/kernels.h"

#include <stddef.h>

__attribute__((visibility("default"))) void kwhy_fake_gpu_all(
	void (*give)(const struct kwhy_gpu_host_kernel *kernels));

void kwhy_fake_gpu_all(void (*give)(const struct kwhy_gpu_host_kernel *kernels))
{
	give(kwhy_bench_source.on_host);
	give(kwhy_ops_source.on_host);
	give(kwhy_pair_source.on_host);
	give(kwhy_proxy_source.on_host);
	give(kwhy_transfer_kernels.on_host);
	give(kwhy_transfer_convert_kernels.on_host);
	give(kwhy_collectives_host_kernels);
	give(lab_decode_host_kernels);
	give(lab_train_host_kernels);
	give(lab_flow_host_kernels);
	give(lab_twin_host_kernels);
}
