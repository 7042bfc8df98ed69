/* SPDX-License-Identifier: Apache-2.0 */
#include "stat_run.h"

#include "../golden/schema_check.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "kwhy-stat-XXXXXX";

const char *place(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

int stat_begin(void **state)
{
	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	return mkdtemp(folder) ? 0 : -1;
}

int stat_end(void **state)
{
	static const char *const names[] = {
		"a.json", "b.json", "stat.json", "power.csv", "bytes", "out.csv", "scenario", "pid"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(place(names[i]));
	return rmdir(folder);
}

void use_scenario(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/%s.txt", name);
	setenv("KWHY_FAKE_NVML", path, 1);
}

json_t *parse(const struct kwhy_text *text)
{
	json_error_t where;
	json_t *document = json_loadb(text->data, text->length, 0, &where);

	if (!document)
		fail_msg("line %d: %s in '%.300s'", where.line, where.text, text->data);
	return document;
}

json_t *stat_of(const char *const *words)
{
	struct spawned spawned = spawn_run(&(struct spawn){.words = words});
	struct kwhy_text text = {0};
	struct kwhy_error error;
	json_t *document;

	if (spawned.exit)
		fail_msg("exit %d: %s", spawned.exit, spawned.err.data);
	assert_int_equal(kwhy_file_read(place("stat.json"), 1000000, &text, &error), KWHY_OK);
	document = parse(&text);
	assert_keeps_to_schema("stat", document);
	kwhy_text_done(&text);
	spawned_done(&spawned);
	return document;
}

json_t *named(json_t *array, const char *key, const char *name)
{
	size_t i;
	json_t *item;

	json_array_foreach(array, i, item)
	{
		if (strcmp(json_string_value(json_object_get(item, key)), name) == 0)
			return item;
	}
	fail_msg("there is no %s '%s'", key, name);
	return NULL;
}

double real_at(const json_t *object, const char *outer, const char *inner)
{
	return json_number_value(json_object_get(json_object_get(object, outer), inner));
}

json_t *domain_of(const json_t *document, const char *name)
{
	return named(json_object_get(document, "domains"), "name", name);
}

void assert_ends(struct spawned spawned, int exit, const char *says)
{
	if (spawned.exit != exit || !strstr(spawned.err.data, says))
		fail_msg("exit %d, no '%s' in '%s'", spawned.exit, says, spawned.err.data);
	spawned_done(&spawned);
}
