/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char subject[] = "the environment of the command";

static enum kwhy_status copy_ours(struct kwhy_environment *out, struct kwhy_error *error)
{
	struct kwhy_environment copy = {0};
	size_t count = 0;

	while (environ && environ[count])
		count++;
	copy.settings = calloc(count + 1, sizeof(*copy.settings));
	if (!copy.settings)
		return kwhy_fail_memory(error, subject);
	for (; copy.count < count; copy.count++) {
		copy.settings[copy.count] = strdup(environ[copy.count]);
		if (!copy.settings[copy.count]) {
			kwhy_environment_done(&copy);
			return kwhy_fail_memory(error, subject);
		}
	}
	*out = copy;
	return KWHY_OK;
}

/* Index of the first setting of a variable; environment->count: the variable has none. */
static size_t find(const struct kwhy_environment *environment, const char *name)
{
	const size_t length = strlen(name);
	size_t at = 0;

	while (at < environment->count &&
		(strncmp(environment->settings[at], name, length) != 0 ||
			environment->settings[at][length] != '='))
		at++;
	return at;
}

/*
 * Removes all settings of a variable; an inherited environment may contain several. The remaining settings
 * may change their order.
 */
static void take_out(struct kwhy_environment *environment, const char *name)
{
	for (size_t at; (at = find(environment, name)) < environment->count;) {
		free(environment->settings[at]);
		environment->settings[at] = environment->settings[--environment->count];
		environment->settings[environment->count] = NULL;
	}
}

/*
 * Allocates the text "NAME=value" and enlarges the list by one entry, into which the caller puts it. NULL:
 * memory is exhausted.
 */
static char *make_setting(struct kwhy_environment *environment, const char *name, const char *value)
{
	const size_t bytes = strlen(name) + strlen(value) + sizeof("=");
	char **settings = realloc(environment->settings, (environment->count + 2) * sizeof(*settings));
	char *setting = settings ? malloc(bytes) : NULL;

	if (settings)
		environment->settings = settings;
	if (setting)
		snprintf(setting, bytes, "%s=%s", name, value);
	return setting;
}

enum kwhy_status kwhy_environment_set(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error)
{
	enum kwhy_status status = environment->settings ? KWHY_OK : copy_ours(environment, error);
	char *setting;

	if (status)
		return status;
	setting = value ? make_setting(environment, name, value) : NULL;
	if (value && !setting)
		return kwhy_fail_memory(error, subject);
	take_out(environment, name);
	if (!setting)
		return KWHY_OK;
	environment->settings[environment->count++] = setting;
	environment->settings[environment->count] = NULL;
	return KWHY_OK;
}

void kwhy_environment_done(struct kwhy_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->settings[i]);
	free(environment->settings);
	*environment = (struct kwhy_environment){0};
}
