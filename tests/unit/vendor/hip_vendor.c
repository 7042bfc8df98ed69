/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_facts.h"

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

/*
 * Checks that the function in the vendor's header has the parameters with which kwhy calls it: handles and
 * addresses are pointers or as long as one, numbers are int.
 */
#define TAKES(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), hipError_t(__VA_ARGS__)), #name)
#define COMPILER_TAKES(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), hiprtcResult(__VA_ARGS__)), #name)

TAKES(hipInit, unsigned);
TAKES(hipDriverGetVersion, int *);
TAKES(hipGetDeviceCount, int *);
TAKES(hipDeviceGet, hipDevice_t *, int);
TAKES(hipDeviceGetByPCIBusId, int *, const char *);
TAKES(hipDeviceGetPCIBusId, char *, int, int);
TAKES(hipDeviceGetName, char *, int, hipDevice_t);
TAKES(hipDeviceTotalMem, size_t *, hipDevice_t);
TAKES(hipDeviceGetAttribute, int *, hipDeviceAttribute_t, int);
TAKES(hipModuleLoadData, hipModule_t *, const void *);
TAKES(hipModuleUnload, hipModule_t);
TAKES(hipModuleGetFunction, hipFunction_t *, hipModule_t, const char *);
TAKES(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, int *, hipFunction_t, int, size_t);
TAKES(hipModuleLaunchKernel, hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	unsigned, hipStream_t, void **, void **);
TAKES(hipMalloc, void **, size_t);
TAKES(hipFree, void *);
TAKES(hipMallocAsync, void **, size_t, hipStream_t);
TAKES(hipFreeAsync, void *, hipStream_t);
TAKES(hipMallocManaged, void **, size_t, unsigned);
TAKES(hipHostMalloc, void **, size_t, unsigned);
TAKES(hipHostFree, void *);
TAKES(hipHostRegister, void *, size_t, unsigned);
TAKES(hipHostUnregister, void *);
TAKES(hipHostGetDevicePointer, void **, void *, unsigned);
TAKES(hipMemsetD8Async, hipDeviceptr_t, unsigned char, size_t, hipStream_t);
TAKES(hipDeviceCanAccessPeer, int *, int, int);
TAKES(hipStreamCreateWithFlags, hipStream_t *, unsigned);
TAKES(hipStreamDestroy, hipStream_t);
TAKES(hipStreamWaitEvent, hipStream_t, hipEvent_t, unsigned);
TAKES(hipStreamSynchronize, hipStream_t);
TAKES(hipEventCreateWithFlags, hipEvent_t *, unsigned);
TAKES(hipEventDestroy, hipEvent_t);
TAKES(hipEventRecord, hipEvent_t, hipStream_t);
TAKES(hipEventSynchronize, hipEvent_t);
TAKES(hipEventQuery, hipEvent_t);
TAKES(hipEventElapsedTime, float *, hipEvent_t, hipEvent_t);
TAKES(hipStreamBeginCapture, hipStream_t, hipStreamCaptureMode);
TAKES(hipStreamEndCapture, hipStream_t, hipGraph_t *);
TAKES(hipGraphInstantiateWithFlags, hipGraphExec_t *, hipGraph_t, unsigned long long);
TAKES(hipGraphLaunch, hipGraphExec_t, hipStream_t);
TAKES(hipGraphExecDestroy, hipGraphExec_t);
TAKES(hipGraphDestroy, hipGraph_t);
TAKES(hipSetDevice, int);
TAKES(hipDeviceEnablePeerAccess, int, unsigned);
TAKES(hipMemcpy, void *, const void *, size_t, hipMemcpyKind);
TAKES(hipMemcpyAsync, void *, const void *, size_t, hipMemcpyKind, hipStream_t);
COMPILER_TAKES(hiprtcVersion, int *, int *);
COMPILER_TAKES(
	hiprtcCreateProgram, hiprtcProgram *, const char *, const char *, int, const char **, const char **);
COMPILER_TAKES(hiprtcDestroyProgram, hiprtcProgram *);
COMPILER_TAKES(hiprtcCompileProgram, hiprtcProgram, int, const char **);
COMPILER_TAKES(hiprtcGetCodeSize, hiprtcProgram, size_t *);
COMPILER_TAKES(hiprtcGetCode, hiprtcProgram, char *);
COMPILER_TAKES(hiprtcGetProgramLogSize, hiprtcProgram, size_t *);
COMPILER_TAKES(hiprtcGetProgramLog, hiprtcProgram, char *);
_Static_assert(sizeof(hipDevice_t) == sizeof(int) && sizeof(hipDeviceAttribute_t) == sizeof(int) &&
		sizeof(hipMemcpyKind) == sizeof(int) && sizeof(hipStreamCaptureMode) == sizeof(int) &&
		sizeof(hipError_t) == sizeof(int) && sizeof(hiprtcResult) == sizeof(int),
	"numbers are passed as int");
_Static_assert(
	sizeof(hipDeviceptr_t) == sizeof(unsigned long long) && sizeof(void *) == sizeof(unsigned long long),
	"addresses are passed as unsigned long long");

const long hip_vendor_facts[HIP_FACT_COUNT] = {
#define X(ours, theirs) (long)(theirs),
	HIP_FACTS(X)
#undef X
};
