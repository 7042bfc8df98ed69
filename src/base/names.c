/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include "base/column.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static enum kwhy_status add_clean(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&names->strings, &names->capacity,
		names->count + 1, sizeof(*names->strings), "names", error);
	struct kwhy_map_slot *slot;

	if (!status)
		status = kwhy_map_add_bytes(&names->map, bytes, length, (uint32_t)names->count, &slot, error);
	if (status)
		return status;
	if (slot->value == names->count)
		names->strings[names->count++] = kwhy_map_bytes(&names->map, slot);
	*out_name = slot->value;
	return KWHY_OK;
}

/*
 * Adds a name that the map does not have in this form. A clean name is added unchanged. A longer one is cut
 * to KWHY_NAME_MAX_BYTES and one that is not clean is sanitised; the map may have the name in that form
 * already.
 */
static enum kwhy_status add(struct kwhy_names *names, const char *bytes, size_t length, uint32_t *out_name,
	struct kwhy_error *error)
{
	char clean[3 * KWHY_NAME_MAX_BYTES + 4];
	size_t cut = length;

	if (length > KWHY_NAME_MAX_BYTES) {
		cut = KWHY_NAME_MAX_BYTES - 3;
		while (cut > 0 && ((unsigned char)bytes[cut] & 0xC0) == 0x80)
			cut--;
	} else if (kwhy_text_is_clean(bytes, length)) {
		return add_clean(names, bytes, length, out_name, error);
	}
	cut = kwhy_text_sanitize(clean, bytes, cut);
	if (length > KWHY_NAME_MAX_BYTES) {
		memcpy(clean + cut, "...", 4);
		cut += 3;
	}
	return add_clean(names, clean, cut, out_name, error);
}

/*
 * Interns a name. All names in the map are clean (kwhy_text_is_clean()), so a name that is found as it stands
 * need not be checked.
 */
enum kwhy_status kwhy_names_intern(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	const struct kwhy_map_slot *slot = kwhy_map_find_bytes(&names->map, bytes, length);

	if (!slot)
		return add(names, bytes, length, out_name, error);
	*out_name = slot->value;
	return KWHY_OK;
}

enum kwhy_status kwhy_names_init(struct kwhy_names *names, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t empty;

	*names = (struct kwhy_names){0};
	status = kwhy_names_intern(names, "", 0, &empty, error);
	if (status)
		kwhy_names_done(names);
	return status;
}

void kwhy_names_done(struct kwhy_names *names)
{
	kwhy_map_done(&names->map);
	free(names->strings);
	*names = (struct kwhy_names){0};
}
