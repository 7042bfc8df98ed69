/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/profile_part.h"

#include "base/file.h"
#include "model/profile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_MAX_BYTES = 4 << 20 };

static enum kwhy_status check_profile(
	const json_t *root, const char *device, const char *path, struct kwhy_error *error)
{
	const char *schema = json_string_value(json_object_get(root, "schema")),
		   *of = json_string_value(json_object_get(json_object_get(root, "device"), "name"));

	if (!schema || strcmp(schema, KWHY_PROFILE_SCHEMA) != 0 || !of)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is not a machine profile; name one that kwhy calibrate wrote", path);
	if (!device || strcmp(of, device) != 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s is the profile of %.80s, not of %.80s; name one of the same device", path, of,
			device ? device : "an unknown device");
	return KWHY_OK;
}

/*
 * Puts `part`, a JSON object, into the profile `root` under the key `name`, and writes the whole profile as
 * JSON to `out`.
 */
static enum kwhy_status put(json_t *root, const char *name, const struct kwhy_text *part,
	struct kwhy_text *out, struct kwhy_error *error)
{
	json_t *object = part->failed ? NULL : json_loadb(part->data, part->length, 0, NULL);
	char *dumped = NULL;

	if (object && json_object_set_new(root, name, object) == 0)
		dumped = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	if (!dumped)
		return kwhy_fail_memory(error, "a machine profile");
	kwhy_text_addf(out, "%s\n", dumped);
	free(dumped);
	return kwhy_text_check(out, error);
}

enum kwhy_status kwhy_profile_part_put(const char *path, const char *device, const char *name,
	const struct kwhy_text *part, struct kwhy_error *error)
{
	struct kwhy_text before = {0}, after = {0};
	json_t *root = NULL;
	enum kwhy_status status = kwhy_file_read(path, PROFILE_MAX_BYTES, &before, error);

	if (!status) {
		root = json_loads(before.data ? before.data : "", JSON_REJECT_DUPLICATES, NULL);
		status = check_profile(root, device, path, error);
	}
	if (!status)
		status = put(root, name, part, &after, error);
	if (!status)
		status = kwhy_file_write(path, after.data, after.length, error);
	json_decref(root);
	kwhy_text_done(&before);
	kwhy_text_done(&after);
	return status;
}
