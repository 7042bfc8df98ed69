/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_ops_profile.h"

#include "base/file.h"
#include "cli/bench_ops_show.h"
#include "model/profile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_MAX_BYTES = 4 << 20 };

static enum kwhy_status check_profile(
	const json_t *root, const struct kwhy_bench_ops *bench, const char *path, struct kwhy_error *error)
{
	const char *schema = json_string_value(json_object_get(root, "schema")),
		   *device = json_string_value(json_object_get(json_object_get(root, "device"), "name"));

	if (!schema || strcmp(schema, KWHY_PROFILE_SCHEMA) != 0 || !device)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is no machine profile; name one that kwhy calibrate wrote", path);
	if (strcmp(device, bench->gpus[0].name) != 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s is the profile of %.80s, not of %.80s; name one of the same device", path, device,
			bench->gpus[0].name);
	return KWHY_OK;
}

static enum kwhy_status put(
	json_t *root, const struct kwhy_bench_ops *bench, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	json_t *part;
	char *dumped = NULL;

	kwhy_bench_ops_json(bench, &text);
	part = text.failed ? NULL : json_loadb(text.data, text.length, 0, NULL);
	kwhy_text_done(&text);
	if (part && json_object_set_new(root, "operations", part) == 0)
		dumped = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	if (!dumped)
		return kwhy_fail_memory(error, "a machine profile");
	kwhy_text_addf(out, "%s\n", dumped);
	free(dumped);
	return kwhy_text_check(out, error);
}

enum kwhy_status kwhy_bench_ops_profile(
	const struct kwhy_bench_ops *bench, const char *path, struct kwhy_error *error)
{
	struct kwhy_text before = {0}, after = {0};
	json_t *root = NULL;
	enum kwhy_status status = kwhy_file_read(path, PROFILE_MAX_BYTES, &before, error);

	if (!status) {
		root = json_loads(before.data ? before.data : "", JSON_REJECT_DUPLICATES, NULL);
		status = check_profile(root, bench, path, error);
	}
	if (!status)
		status = put(root, bench, &after, error);
	if (!status)
		status = kwhy_file_write(path, after.data, after.length, error);
	json_decref(root);
	kwhy_text_done(&before);
	kwhy_text_done(&after);
	return status;
}
