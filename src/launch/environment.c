/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char subject[] = "the environment of the command";

static enum kwhy_status copy_ours(struct kwhy_environment *out, struct kwhy_error *error)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	out->settings = calloc(count + 1, sizeof(*out->settings));
	if (!out->settings)
		return kwhy_fail_memory(error, subject);
	for (out->count = 0; out->count < count; out->count++) {
		out->settings[out->count] = strdup(environ[out->count]);
		if (!out->settings[out->count])
			return kwhy_fail_memory(error, subject);
	}
	return KWHY_OK;
}

/* count: it is not there. */
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

static void take_out(struct kwhy_environment *environment, size_t at)
{
	if (at == environment->count)
		return;
	free(environment->settings[at]);
	environment->settings[at] = environment->settings[--environment->count];
	environment->settings[environment->count] = NULL;
}

static enum kwhy_status add(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error)
{
	const size_t bytes = strlen(name) + strlen(value) + sizeof("=");
	char **settings = realloc(environment->settings, (environment->count + 2) * sizeof(*settings));
	char *setting = settings ? malloc(bytes) : NULL;

	if (settings)
		environment->settings = settings;
	if (!setting)
		return kwhy_fail_memory(error, subject);
	snprintf(setting, bytes, "%s=%s", name, value);
	settings[environment->count++] = setting;
	settings[environment->count] = NULL;
	return KWHY_OK;
}

enum kwhy_status kwhy_environment_set(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error)
{
	enum kwhy_status status = environment->settings ? KWHY_OK : copy_ours(environment, error);

	if (status)
		return status;
	take_out(environment, find(environment, name));
	return value ? add(environment, name, value, error) : KWHY_OK;
}

void kwhy_environment_done(struct kwhy_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->settings[i]);
	free(environment->settings);
	*environment = (struct kwhy_environment){0};
}
