/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/wire.h"

const char *kwhy_wire_kind_name(unsigned kind)
{
	static const char *const names[KWHY_WIRE_KIND_COUNT] = {[KWHY_WIRE_NAME] = "name",
#define X(kind, record) [KWHY_WIRE_##kind] = #record,
		KWHY_WIRE_KINDS(X)
#undef X
	};

	return kind < KWHY_WIRE_KIND_COUNT ? names[kind] : "unknown kind";
}

uint32_t kwhy_wire_record_bytes(unsigned kind)
{
	static const uint32_t bytes[KWHY_WIRE_KIND_COUNT] = {
#define X(kind, record) [KWHY_WIRE_##kind] = sizeof(struct kwhy_wire_##record),
		KWHY_WIRE_KINDS(X)
#undef X
	};

	return kind < KWHY_WIRE_KIND_COUNT ? bytes[kind] : 0;
}
