/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake run-time compiler that accepts every source and returns a few bytes as the result.
 * KWHY_FAKE_NVRTC=refuses makes compiling fail. kwhy_fake_compiled counts the compilations.
 */
#include "vendor/nvrtc_abi.h"

#include <stdlib.h>
#include <string.h>

extern __attribute__((visibility("default"))) int kwhy_fake_compiled;
int kwhy_fake_compiled;

static const char cubin[] = "cubin";
static const char said[] = "error: no such thing";

const char *nvrtcGetErrorString(enum kwhy_nvrtc_result result)
{
	return result == KWHY_NVRTC_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

enum kwhy_nvrtc_result nvrtcVersion(int *out_major, int *out_minor)
{
	*out_major = 13;
	/* a version that no real compiler has, so that cached code of the fake is never used for one */
	*out_minor = 99;
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcCreateProgram(kwhy_nvrtc_program *out_program, const char *source,
	const char *name, int header_count, const char *const *headers, const char *const *header_names)
{
	(void)name, (void)header_count, (void)headers, (void)header_names;
	*out_program = (kwhy_nvrtc_program)(void *)(size_t)source;
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcDestroyProgram(kwhy_nvrtc_program *program)
{
	*program = NULL;
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcCompileProgram(
	kwhy_nvrtc_program program, int option_count, const char *const *options)
{
	const char *scenario = getenv("KWHY_FAKE_NVRTC");

	(void)program, (void)option_count, (void)options;
	kwhy_fake_compiled++;
	return scenario && strcmp(scenario, "refuses") == 0 ? KWHY_NVRTC_COMPILATION : KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcGetCUBINSize(kwhy_nvrtc_program program, size_t *out_bytes)
{
	(void)program;
	*out_bytes = sizeof(cubin);
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcGetCUBIN(kwhy_nvrtc_program program, char *out)
{
	(void)program;
	memcpy(out, cubin, sizeof(cubin));
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcGetProgramLogSize(kwhy_nvrtc_program program, size_t *out_bytes)
{
	(void)program;
	*out_bytes = sizeof(said);
	return KWHY_NVRTC_SUCCESS;
}

enum kwhy_nvrtc_result nvrtcGetProgramLog(kwhy_nvrtc_program program, char *out)
{
	(void)program;
	memcpy(out, said, sizeof(said));
	return KWHY_NVRTC_SUCCESS;
}
