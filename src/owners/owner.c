/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/owner.h"

#include "base/text.h"

#include <string.h>

static const char *const names[] = {
#define X(kind, text) [KWHY_OWNER_##kind] = (text),
	KWHY_OWNER_KINDS(X)
#undef X
};

const char *kwhy_owner_kind_name(enum kwhy_owner_kind kind)
{
	return names[kind];
}

bool kwhy_owner_kind_find(const char *name, enum kwhy_owner_kind *out)
{
	for (int kind = 0; kind < KWHY_OWNER_KIND_COUNT; kind++)
		if (strcmp(names[kind], name) == 0) {
			*out = (enum kwhy_owner_kind)kind;
			return true;
		}
	return false;
}

bool kwhy_owner_is_program(enum kwhy_owner_kind kind)
{
	return kind != KWHY_OWNER_IDLE && kind != KWHY_OWNER_UNWATCHED && kind != KWHY_OWNER_OTHER;
}

bool kwhy_owner_is_same(const struct kwhy_owner *a, const struct kwhy_owner *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->part, b->part) == 0 &&
		strcmp(a->space, b->space) == 0 && strcmp(a->user, b->user) == 0;
}

void kwhy_owner_text(char *out, unsigned long out_bytes, const char *bytes, unsigned long length)
{
	enum { PIECE = 256 };
	char clean[3 * PIECE + 1];
	size_t kept;

	/*
	 * all fields are shorter than PIECE bytes, and each input byte becomes at least one output byte, so
	 * input bytes after the first PIECE cannot fit
	 */
	kept = kwhy_text_sanitize(clean, bytes, length < PIECE ? length : PIECE);
	if (kept >= out_bytes) {
		kept = out_bytes - 1;
		while (kept > 0 && ((unsigned char)clean[kept] & 0xC0) == 0x80)
			kept--;
	}
	memcpy(out, clean, kept);
	out[kept] = '\0';
}
