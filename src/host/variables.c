/* SPDX-License-Identifier: Apache-2.0 */
#include "host/check.h"

#define CUDA_GUIDE "NVIDIA, CUDA Programming Guide, environment variables"
#define NCCL_GUIDE "NVIDIA, NCCL User Guide, environment variables"

const struct kwhy_variable_kind kwhy_variables[] = {
	{"CUDA_LAUNCH_BLOCKING", "cuda_launch_blocking", "1",
		"Every launch waits until its kernel has ended: nothing overlaps and the GPU idles in "
		"between.",
		CUDA_GUIDE, "unset CUDA_LAUNCH_BLOCKING; it is for finding errors"},
	{"CUDA_DEVICE_MAX_CONNECTIONS", "cuda_device_max_connections", "1",
		"All streams share one queue to the GPU, so independent work waits in line.", CUDA_GUIDE,
		"unset it, unless the program asks for 1 (some train in tensor parallel that way)"},
	{"CUDA_MODULE_LOADING", "cuda_module_loading", "EAGER",
		"Every kernel of every library is loaded at the start: a longer start and more memory.",
		"NVIDIA, CUDA Programming Guide, lazy loading",
		"unset CUDA_MODULE_LOADING; since CUDA 12.2 it is LAZY"},
	{"CUDA_FORCE_PTX_JIT", "cuda_force_ptx_jit", "1", "Every kernel is compiled anew from PTX.",
		CUDA_GUIDE, "unset CUDA_FORCE_PTX_JIT"},
	{"CUDA_CACHE_DISABLE", "cuda_cache_disable", "1",
		"What is compiled from PTX is compiled again in every run.", CUDA_GUIDE,
		"unset CUDA_CACHE_DISABLE"},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING", "pytorch_no_cuda_memory_caching", NULL,
		"Every tensor is allocated and freed by the driver, and freeing waits for the GPU.",
		"PyTorch, CUDA semantics, memory management", "unset PYTORCH_NO_CUDA_MEMORY_CACHING"},
	{"NCCL_P2P_DISABLE", "nccl_p2p_disable", "1",
		"GPUs of one machine exchange data through host memory instead of NVLink or PCIe.",
		NCCL_GUIDE, "unset NCCL_P2P_DISABLE"},
	{"NCCL_SHM_DISABLE", "nccl_shm_disable", "1",
		"Where GPUs have no direct way, data goes through the network instead of shared memory.",
		NCCL_GUIDE, "unset NCCL_SHM_DISABLE"},
	{"NCCL_IB_DISABLE", "nccl_ib_disable", "1", "Machines exchange data over IP sockets instead of RDMA.",
		NCCL_GUIDE, "unset NCCL_IB_DISABLE where there is InfiniBand or RoCE"},
	{"NCCL_ALGO", "nccl_algo", NULL, "NCCL cannot choose the algorithm that suits a size.", NCCL_GUIDE,
		"unset NCCL_ALGO after the experiment"},
	{"NCCL_PROTO", "nccl_proto", NULL, "NCCL cannot choose the protocol that suits a size.", NCCL_GUIDE,
		"unset NCCL_PROTO after the experiment"},
	{"NCCL_DEBUG", "nccl_debug", "TRACE", "Every call of NCCL writes a line.", NCCL_GUIDE,
		"NCCL_DEBUG=WARN"},
	{0},
};
