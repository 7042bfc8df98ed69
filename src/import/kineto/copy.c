/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"

#include <string.h>

/*
 * Directions of copies by their names, such as "Memcpy HtoD (Pageable -> Device)" from CUPTI, "Memcpy HtoD
 * (Host -> Device)" and "CopyHostToDevice" from ROCm, and "Memcpy M2D (MEMORY -> DEVICE)" from Intel's PTI.
 * The first row whose text occurs in the name applies. In the texts, "A" is a CUDA array and "M", which PTI
 * writes, is host memory.
 */
static const struct {
	const char *text;
	enum kwhy_copy_kind kind;
	enum kwhy_memory_kind src, dst;
} directions[] = {
	{"HtoD", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
	{"HtoA", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_ARRAY},
	{"DtoH", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
	{"AtoH", KWHY_COPY_D2H, KWHY_MEMORY_ARRAY, KWHY_MEMORY_UNKNOWN},
	{"DtoD", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"AtoD", KWHY_COPY_D2D, KWHY_MEMORY_ARRAY, KWHY_MEMORY_DEVICE},
	{"DtoA", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_ARRAY},
	{"AtoA", KWHY_COPY_D2D, KWHY_MEMORY_ARRAY, KWHY_MEMORY_ARRAY},
	{"PtoP", KWHY_COPY_P2P, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"HtoH", KWHY_COPY_H2H, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
	{"HostToDevice", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
	{"DeviceToHost", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
	{"DeviceToDevice", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"PeerToPeer", KWHY_COPY_P2P, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"HostToHost", KWHY_COPY_H2H, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
	{"M2D", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
	{"H2D", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
	{"D2M", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
	{"D2H", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
	{"D2D", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"M2M", KWHY_COPY_H2H, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
};

/*
 * Kinds of memory by the words in the names of copies, of CUPTI and (in capitals) of Intel's PTI. The first
 * row whose text begins the word applies, so "Device Static" comes before "Device". "Host" is not in the
 * table, because it does not say whether the memory is pageable or pinned.
 */
static const struct {
	const char *text;
	enum kwhy_memory_kind kind;
} memories[] = {
	{"Pageable", KWHY_MEMORY_PAGEABLE},
	{"Pinned", KWHY_MEMORY_PINNED},
	{"Device Static", KWHY_MEMORY_DEVICE_STATIC},
	{"Device", KWHY_MEMORY_DEVICE},
	{"DEVICE", KWHY_MEMORY_DEVICE},
	{"SHARED", KWHY_MEMORY_MANAGED},
	{"Array", KWHY_MEMORY_ARRAY},
	{"Managed Static", KWHY_MEMORY_MANAGED_STATIC},
	{"Managed", KWHY_MEMORY_MANAGED},
};

static void read_memory(const char *text, uint8_t *memory)
{
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		if (!strncmp(text, memories[i].text, strlen(memories[i].text))) {
			*memory = memories[i].kind;
			return;
		}
}

static void read_direction(const char *name, struct kwhy_activity *activity)
{
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		if (strstr(name, directions[i].text)) {
			activity->copy_kind = directions[i].kind;
			activity->src_memory = directions[i].src;
			activity->dst_memory = directions[i].dst;
			return;
		}
}

void kwhy_kineto_copy_read(const char *name, struct kwhy_activity *activity)
{
	const char *from = strchr(name, '(');
	const char *to = strstr(name, "-> ");

	if (activity->kind == KWHY_ACTIVITY_COPY)
		read_direction(name, activity);
	if (activity->kind == KWHY_ACTIVITY_COPY && from && to) {
		read_memory(from + 1, &activity->src_memory);
		read_memory(to + 3, &activity->dst_memory);
	}
	if (activity->kind == KWHY_ACTIVITY_MEMSET && from)
		read_memory(from + 1, &activity->dst_memory);
}
