/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_NAMES_H
#define KWHY_BASE_NAMES_H

#include "base/map.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Interned strings: each distinct string has one small number. Number 0 is always "". Strings that are not
 * clean are changed by kwhy_text_sanitize() first, so all are valid UTF-8 without control characters.
 */
struct kwhy_names {
	struct kwhy_map map;
	const char **strings; /* [count] the strings, which are keys of the map */
	size_t count, capacity;
};

/* Longest name; a longer one is cut between two code points and gets "..." at its end. */
#define KWHY_NAME_MAX_BYTES 4096

KWHY_MUST_USE enum kwhy_status kwhy_names_init(struct kwhy_names *names, struct kwhy_error *error);
void kwhy_names_done(struct kwhy_names *names);
KWHY_MUST_USE enum kwhy_status kwhy_names_intern(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error);

/* Returns the string, valid until kwhy_names_done(). `name` must come from kwhy_names_intern(). */
static inline const char *kwhy_names_get(const struct kwhy_names *names, uint32_t name)
{
	return names->strings[name];
}

#endif
