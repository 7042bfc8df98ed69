/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/projection.h"

#include "base/text.h"
#include "import/own_result.h"
#include "import/results/values.h"
#include "model/ledger.h"

#include <jansson.h>
#include <string.h>

static int64_t known_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : KWHY_UNKNOWN_NJ;
}

static struct kwhy_projection projection_of(const json_t *object)
{
	return (struct kwhy_projection){.time_ns = known_of(object, "time_ns"),
		.time_low_ns = known_of(object, "time_low_ns"),
		.time_high_ns = known_of(object, "time_high_ns"),
		.energy_nj = known_of(object, "energy_nj"),
		.energy_low_nj = known_of(object, "low_nj"),
		.energy_high_nj = known_of(object, "high_nj"),
		.net_nj = known_of(object, "net_nj"),
		.net_low_nj = known_of(object, "net_low_nj"),
		.net_high_nj = known_of(object, "net_high_nj")};
}

static char *name_change(struct kwhy_projection_check *check, const json_t *change)
{
	const json_t *number = json_object_get(change, "number");
	const char *id = json_string_value(json_object_get(change, "id"));
	struct kwhy_text text = {0};
	char *name;

	kwhy_text_add(&text, id ? id : "");
	if (json_is_integer(number))
		kwhy_text_addf(&text, " %lld", (long long)json_integer_value(number));
	name = text.failed ? NULL : kwhy_arena_copy(&check->arena, text.data);
	kwhy_text_done(&text);
	return name;
}

static void note_host_speed(struct kwhy_projection_check *check, const json_t *change)
{
	const char *id = json_string_value(json_object_get(change, "id"));
	const json_t *percent = json_object_get(change, "number");

	if (id && strcmp(id, "host-speed") == 0 && json_is_integer(percent))
		check->host_speed *= (double)json_integer_value(percent) / 100;
}

static char *list_changes(struct kwhy_projection_check *check, const json_t *changes)
{
	struct kwhy_text text = {0};
	const json_t *change;
	char *list;
	size_t i;

	check->list = kwhy_arena_alloc(&check->arena, json_array_size(changes) + 1, sizeof(*check->list));
	if (!check->list)
		return NULL;
	json_array_foreach((json_t *)changes, i, change)
	{
		const char *name = name_change(check, change);

		if (!name)
			text.failed = true;
		note_host_speed(check, change);
		check->list[check->count++] = (struct kwhy_checked_change){
			name, known_of(change, "saved_ns"), known_of(change, "saved_nj")};
		kwhy_text_addf(&text, "%s%s", i ? ", " : "", name ? name : "");
	}
	list = text.failed ? NULL : kwhy_arena_copy(&check->arena, text.data ? text.data : "no changes");
	kwhy_text_done(&text);
	return list;
}

static enum kwhy_status read_root(
	struct kwhy_projection_check *check, const char *label, const json_t *root, struct kwhy_error *error)
{
	const char *schema = kwhy_json_text_of(root, "schema");
	bool is_projection = strcmp(schema, "kwhy.whatif/1") == 0;
	enum kwhy_status status = is_projection
		? KWHY_OK
		: kwhy_own_result_refuse(label, schema, "a projection", error);

	if (status)
		return status;
	check->before = projection_of(json_object_get(root, "before"));
	check->after = projection_of(json_object_get(root, "after"));
	if (!is_projection || check->after.time_ns < 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.200s is not a projection; make one with 'kwhy whatif CHANGES A -o %.200s'", label,
			label);
	check->label = kwhy_arena_copy(&check->arena, label);
	check->changes = list_changes(check, json_object_get(root, "changes"));
	return check->label && check->changes ? KWHY_OK : kwhy_fail_memory(error, "the projection");
}

enum kwhy_status kwhy_projection_check_read(struct kwhy_projection_check *check, const char *label,
	const char *json, size_t length, struct kwhy_error *error)
{
	json_error_t parse;
	json_t *root = json_loadb(json, length, 0, &parse);
	enum kwhy_status status;

	*check = (struct kwhy_projection_check){.host_speed = 1};
	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT, "%.200s is not JSON: %.200s in line %d", label,
			parse.text, parse.line);
	status = read_root(check, label, root, error);
	json_decref(root);
	if (status)
		kwhy_projection_check_done(check);
	return status;
}

void kwhy_projection_check_done(struct kwhy_projection_check *check)
{
	kwhy_arena_done(&check->arena);
	*check = (struct kwhy_projection_check){0};
}
