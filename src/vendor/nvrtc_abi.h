/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVRTC_ABI_H
#define KWHY_VENDOR_NVRTC_ABI_H

#include <stddef.h>

/*
 * The part of NVRTC's binary interface that kwhy calls, declared by hand from its public documentation (CUDA
 * 11.2 to 13). Functions have the vendor's names, types have kwhy's.
 */
enum kwhy_nvrtc_result { KWHY_NVRTC_SUCCESS = 0, KWHY_NVRTC_COMPILATION = 6 };

typedef struct kwhy_nvrtc_program_opaque *kwhy_nvrtc_program;

const char *nvrtcGetErrorString(enum kwhy_nvrtc_result result);
enum kwhy_nvrtc_result nvrtcVersion(int *out_major, int *out_minor);
enum kwhy_nvrtc_result nvrtcCreateProgram(kwhy_nvrtc_program *out_program, const char *source,
	const char *name, int header_count, const char *const *headers, const char *const *header_names);
enum kwhy_nvrtc_result nvrtcDestroyProgram(kwhy_nvrtc_program *program);
enum kwhy_nvrtc_result nvrtcCompileProgram(
	kwhy_nvrtc_program program, int option_count, const char *const *options);
enum kwhy_nvrtc_result nvrtcGetCUBINSize(kwhy_nvrtc_program program, size_t *out_bytes);
enum kwhy_nvrtc_result nvrtcGetCUBIN(kwhy_nvrtc_program program, char *out);
enum kwhy_nvrtc_result nvrtcGetProgramLogSize(kwhy_nvrtc_program program, size_t *out_bytes);
enum kwhy_nvrtc_result nvrtcGetProgramLog(kwhy_nvrtc_program program, char *out);

#endif
