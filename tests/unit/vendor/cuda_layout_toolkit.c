/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and constants of the CUDA driver and NVRTC by the toolkit's headers. */
#include "cuda_layout.h"

#include <cuda.h>
#include <nvrtc.h>

#define T(ours, theirs) {#theirs, sizeof(theirs)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cuda_layout_row cuda_layout_of_toolkit[] = {CUDA_LAYOUT(T, C)};

#if CUDA_VERSION >= 12080
const struct cuda_layout_row cuda_batch_layout_of_toolkit[] = {CUDA_BATCH_LAYOUT(T, C)};
const size_t cuda_batch_layout_rows = sizeof(cuda_batch_layout_of_toolkit) /
	sizeof(cuda_batch_layout_of_toolkit[0]);
#else
const struct cuda_layout_row cuda_batch_layout_of_toolkit[1];
const size_t cuda_batch_layout_rows;
#endif

/*
 * Checks that the function in the header has the parameters with which kwhy calls it. kwhy's own types have
 * other names and the same shape.
 */
#define TAKES(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult(__VA_ARGS__)), #name)

TAKES(cuInit, unsigned);
TAKES(cuGetErrorString, CUresult, const char **);
TAKES(cuDriverGetVersion, int *);
TAKES(cuDeviceGet, CUdevice *, int);
TAKES(cuDeviceGetByPCIBusId, CUdevice *, const char *);
TAKES(cuDeviceGetPCIBusId, char *, int, CUdevice);
TAKES(cuDeviceGetCount, int *);
TAKES(cuDeviceTotalMem, size_t *, CUdevice);
TAKES(cuDeviceGetName, char *, int, CUdevice);
TAKES(cuDeviceGetAttribute, int *, CUdevice_attribute, CUdevice);
TAKES(cuDevicePrimaryCtxRetain, CUcontext *, CUdevice);
TAKES(cuDevicePrimaryCtxRelease, CUdevice);
TAKES(cuCtxSetCurrent, CUcontext);
TAKES(cuIpcGetMemHandle, CUipcMemHandle *, CUdeviceptr);
TAKES(cuIpcOpenMemHandle, CUdeviceptr *, CUipcMemHandle, unsigned);
TAKES(cuIpcCloseMemHandle, CUdeviceptr);
TAKES(cuCtxEnablePeerAccess, CUcontext, unsigned);
TAKES(cuDeviceCanAccessPeer, int *, CUdevice, CUdevice);
TAKES(cuModuleLoadData, CUmodule *, const void *);
TAKES(cuModuleUnload, CUmodule);
TAKES(cuModuleGetFunction, CUfunction *, CUmodule, const char *);
TAKES(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *, CUfunction, int, size_t);
TAKES(cuFuncGetAttribute, int *, CUfunction_attribute, CUfunction);
TAKES(cuFuncSetAttribute, CUfunction, CUfunction_attribute, int);
TAKES(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	CUstream, void **, void **);
TAKES(cuLaunchCooperativeKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	unsigned, CUstream, void **);
#if CUDA_VERSION >= 12000
TAKES(cuLaunchKernelEx, const CUlaunchConfig *, CUfunction, void **, void **);
#endif
TAKES(cuMemAlloc, CUdeviceptr *, size_t);
TAKES(cuMemFree, CUdeviceptr);
TAKES(cuMemAllocAsync, CUdeviceptr *, size_t, CUstream);
TAKES(cuMemFreeAsync, CUdeviceptr, CUstream);
TAKES(cuMemAllocManaged, CUdeviceptr *, size_t, unsigned);
TAKES(cuMemHostAlloc, void **, size_t, unsigned);
TAKES(cuMemFreeHost, void *);
TAKES(cuMemHostRegister, void *, size_t, unsigned);
TAKES(cuMemHostUnregister, void *);
TAKES(cuMemHostGetDevicePointer, CUdeviceptr *, void *, unsigned);
TAKES(cuPointerGetAttribute, void *, CUpointer_attribute, CUdeviceptr);
TAKES(cuMemcpy, CUdeviceptr, CUdeviceptr, size_t);
TAKES(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, size_t, CUstream);
TAKES(cuMemsetD8Async, CUdeviceptr, unsigned char, size_t, CUstream);
TAKES(cuStreamCreate, CUstream *, unsigned);
TAKES(cuStreamDestroy, CUstream);
TAKES(cuStreamSynchronize, CUstream);
TAKES(cuStreamWaitEvent, CUstream, CUevent, unsigned);
TAKES(cuEventCreate, CUevent *, unsigned);
TAKES(cuEventDestroy, CUevent);
TAKES(cuEventRecord, CUevent, CUstream);
TAKES(cuEventSynchronize, CUevent);
TAKES(cuEventQuery, CUevent);
TAKES(cuEventElapsedTime, float *, CUevent, CUevent);
TAKES(cuStreamBeginCapture, CUstream, CUstreamCaptureMode);
TAKES(cuStreamEndCapture, CUstream, CUgraph *);
TAKES(cuGraphInstantiateWithFlags, CUgraphExec *, CUgraph, unsigned long long);
TAKES(cuGraphLaunch, CUgraphExec, CUstream);
TAKES(cuGraphExecDestroy, CUgraphExec);
TAKES(cuGraphDestroy, CUgraph);
#if CUDA_VERSION >= 13000 /* in older headers the call has one parameter more */
TAKES(cuMemcpyBatchAsync, CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *,
	size_t, CUstream);
#elif CUDA_VERSION >= 12080
TAKES(cuMemcpyBatchAsync, CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *,
	size_t, size_t *, CUstream);
#endif
_Static_assert(sizeof(CUdevice_attribute) == sizeof(int) && sizeof(CUpointer_attribute) == sizeof(int) &&
		sizeof(CUfunction_attribute) == sizeof(int) && sizeof(CUstreamCaptureMode) == sizeof(int),
	"numbers are passed as int");
