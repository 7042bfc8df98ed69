/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PROXY_KERNELS_H
#define KWHY_REPLAY_PROXY_KERNELS_H

#include "gpu/gpu.h"

/*
 * The kernels of kernels/proxy.cu with their host versions. The host versions are for the back end without a
 * GPU: kernels of all classes only wait, and a tick is 1 ns.
 */
extern const struct kwhy_gpu_source kwhy_proxy_source;

#endif
