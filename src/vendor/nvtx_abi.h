/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVTX_ABI_H
#define KWHY_VENDOR_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

/*
 * The part of NVTX version 3 that a tool sees, declared by hand from its public headers. The copy of NVTX in
 * a program calls the tool's InitializeInjectionNvtx2(), which fills NVTX's tables of function pointers. The
 * test unit_vendor_cupti_layout compares the declarations with the headers where they are installed.
 */

enum { KWHY_NVTX_EXPORT_CALLBACKS = 1 };
enum { KWHY_NVTX_MODULE_CORE = 1, KWHY_NVTX_MODULE_CORE2 = 5 };

/* Indices of functions in the table of the core module. */
enum {
	KWHY_NVTX_START_EX = 4,
	KWHY_NVTX_START_A = 5,
	KWHY_NVTX_START_W = 6,
	KWHY_NVTX_END = 7,
	KWHY_NVTX_PUSH_EX = 8,
	KWHY_NVTX_PUSH_A = 9,
	KWHY_NVTX_PUSH_W = 10,
	KWHY_NVTX_POP = 11
};

/* Indices of functions in the table of the second core module. These functions take a domain. */
enum {
	KWHY_NVTX_DOMAIN_START_EX = 2,
	KWHY_NVTX_DOMAIN_END = 3,
	KWHY_NVTX_DOMAIN_PUSH_EX = 4,
	KWHY_NVTX_DOMAIN_POP = 5,
	KWHY_NVTX_DOMAIN_REGISTER_A = 10,
	KWHY_NVTX_DOMAIN_REGISTER_W = 11,
	KWHY_NVTX_DOMAIN_CREATE_A = 12,
	KWHY_NVTX_DOMAIN_CREATE_W = 13
};

enum { KWHY_NVTX_MESSAGE_ASCII = 1, KWHY_NVTX_MESSAGE_UNICODE = 2, KWHY_NVTX_MESSAGE_REGISTERED = 3 };

typedef void kwhy_nvtx_function(void);

struct kwhy_nvtx_callbacks {
	size_t struct_bytes;
	int (*table_of)(int module, kwhy_nvtx_function ****out_table, unsigned *out_places);
};

typedef const void *kwhy_nvtx_export(uint32_t table);

/* Attributes of an event. Only its message is read. */
struct kwhy_nvtx_event {
	uint16_t version, struct_bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	/* by message_type: a char string, a wchar_t string, or a handle that the tool has returned */
	const void *message;
};

#endif
