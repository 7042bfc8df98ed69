/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "rocm_smi_facts.h"

#include "vendor/rocm_smi_abi.h"

#include <stddef.h>

#ifdef KWHY_HAVE_ROCM_SMI_H

#define LAYOUT(v)                                                                \
	[FACT_FREQUENCIES_BYTES] = sizeof(struct kwhy_rsmi_frequencies_##v),     \
	[FACT_FREQUENCIES_MAX] = KWHY_RSMI_FREQUENCIES_##v,                      \
	[FACT_COUNT_AT] = offsetof(struct kwhy_rsmi_frequencies_##v, count),     \
	[FACT_CURRENT_AT] = offsetof(struct kwhy_rsmi_frequencies_##v, current), \
	[FACT_FREQUENCY_AT] = offsetof(struct kwhy_rsmi_frequencies_##v, frequency_hz)

#define VALUES                                                                                        \
	[FACT_SUCCESS] = KWHY_RSMI_SUCCESS, [FACT_INVALID_ARGUMENT] = KWHY_RSMI_INVALID_ARGUMENT,     \
	[FACT_NOT_SUPPORTED] = KWHY_RSMI_NOT_SUPPORTED, [FACT_FILE_ERROR] = KWHY_RSMI_FILE_ERROR,     \
	[FACT_PERMISSION] = KWHY_RSMI_PERMISSION, [FACT_NOT_FOUND] = KWHY_RSMI_NOT_FOUND,             \
	[FACT_INSUFFICIENT_SIZE] = KWHY_RSMI_INSUFFICIENT_SIZE,                                       \
	[FACT_PROCESS_BYTES] = sizeof(struct kwhy_rsmi_process),                                      \
	[FACT_PROCESS_MEMORY_AT] = offsetof(struct kwhy_rsmi_process, memory_bytes),                  \
	[FACT_UNKNOWN] = KWHY_RSMI_UNKNOWN, [FACT_DRIVER] = KWHY_RSMI_COMPONENT_DRIVER,               \
	[FACT_VRAM] = KWHY_RSMI_MEMORY_VRAM, [FACT_CLOCK_SYSTEM] = KWHY_RSMI_CLOCK_SYSTEM,            \
	[FACT_CLOCK_MEMORY] = KWHY_RSMI_CLOCK_MEMORY, [FACT_CURRENT] = KWHY_RSMI_TEMPERATURE_CURRENT, \
	[FACT_EDGE] = KWHY_RSMI_PLACE_EDGE, [FACT_JUNCTION] = KWHY_RSMI_PLACE_JUNCTION,               \
	[FACT_MEMORY] = KWHY_RSMI_PLACE_MEMORY, [FACT_RESULT_BYTES] = sizeof(int)

static const char *const names[FACT_COUNT] = {
#define X(name) [FACT_##name] = #name,
	ROCM_SMI_FACTS(X)
#undef X
};

/*
 * The installed header is of ROCm 5, or of ROCm 6 or later. It must agree with kwhy's layout for that
 * version.
 */
static void our_declarations_agree_with_the_vendor_s_header(void **state)
{
	static const long before_6[FACT_COUNT] = {VALUES, LAYOUT(5)},
			  since_6[FACT_COUNT] = {VALUES, LAYOUT(6)};
	const long *ours = rocm_smi_vendor_facts[FACT_FREQUENCIES_MAX] == KWHY_RSMI_FREQUENCIES_5 ? before_6
												  : since_6;

	(void)state;
	for (int fact = 0; fact < FACT_COUNT; fact++)
		if (ours[fact] != rocm_smi_vendor_facts[fact])
			fail_msg("%s is %ld, the header says %ld", names[fact], ours[fact],
				rocm_smi_vendor_facts[fact]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_declarations_agree_with_the_vendor_s_header),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

#else

int main(void)
{
	return kwhy_skip_all("no rocm_smi.h here");
}

#endif
