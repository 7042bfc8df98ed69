/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_ROCM_SMI_FACTS_H
#define KWHY_TESTS_UNIT_VENDOR_ROCM_SMI_FACTS_H

/*
 * Lists facts that kwhy's declarations and the vendor's header both state. Each side is compiled in a file
 * of its own, as both define the same names.
 */
#define ROCM_SMI_FACTS(X)    \
	X(SUCCESS)           \
	X(INVALID_ARGUMENT)  \
	X(NOT_SUPPORTED)     \
	X(FILE_ERROR)        \
	X(PERMISSION)        \
	X(NOT_FOUND)         \
	X(INSUFFICIENT_SIZE) \
	X(PROCESS_BYTES)     \
	X(PROCESS_MEMORY_AT) \
	X(UNKNOWN)           \
	X(DRIVER)            \
	X(VRAM)              \
	X(CLOCK_SYSTEM)      \
	X(CLOCK_MEMORY)      \
	X(CURRENT)           \
	X(EDGE)              \
	X(JUNCTION)          \
	X(MEMORY)            \
	X(FREQUENCIES_BYTES) \
	X(FREQUENCIES_MAX)   \
	X(COUNT_AT)          \
	X(CURRENT_AT)        \
	X(FREQUENCY_AT)      \
	X(RESULT_BYTES)

enum rocm_smi_fact {
#define X(name) FACT_##name,
	ROCM_SMI_FACTS(X)
#undef X
		FACT_COUNT
};

extern const long rocm_smi_vendor_facts[FACT_COUNT];

#endif
