/* SPDX-License-Identifier: Apache-2.0 */
#include "import/own_result.h"

#include "import/trace_head.h"

#include <stdbool.h>
#include <string.h>

enum { SCHEMA_BYTES = 64 };

/* The names in "schema": "kwhy.NAME/1", what such a file is, and which command reads it. */
static const struct {
	const char *name, *what, *reader;
} results[] = {
	{"report", "a report that kwhy report --json wrote",
		"kwhy compare and kwhy model cost, scale and tokens read it"},
	{"brief", "the brief report that kwhy report --json --brief wrote",
		"kwhy report --json without --brief writes the report that kwhy compare and kwhy model read"},
	{"powers", "a file of powers that kwhy export --to powers wrote",
		"--powers of kwhy report, whatif and compare reads it"},
	{"stat", "a result of kwhy stat",
		"kwhy compare takes two of them, and kwhy model cost, scale and tokens read it"},
	{"whatif", "a projection of kwhy whatif", "--projected of kwhy compare reads it"},
	{"profile", "a machine profile", "--machine-profile reads it"},
	{"ops", "a result of kwhy bench ops", "--ops of kwhy model roofline reads it"},
	{"transfers", "a result of kwhy bench transfer", "kwhy reads no such file"},
	{"pairs", "a result of kwhy bench pairs", "kwhy report reads the folder in which it lies"},
	{"compare", "a result of kwhy compare", "kwhy reads no such file"},
	{"compare-stat", "a result of kwhy compare", "kwhy reads no such file"},
	{"doctor", "a result of kwhy doctor", "kwhy reads no such file"},
	{"llm", "a result of kwhy llm", "kwhy reads no such file"},
	{"measure", "a result of the library's measurements", "kwhy reads no such file"},
	{"model", "a result of kwhy model", "kwhy reads no such file"},
	{"replay", "a result of kwhy replay", "kwhy reads no such file"},
	{"verify", "a result of kwhy verify", "kwhy reads no such file"},
};

struct text {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool take(struct text *text, const char *token)
{
	const size_t length = strlen(token);

	while (text->at < text->end && is_space(*text->at))
		text->at++;
	if ((size_t)(text->end - text->at) < length || strncmp(text->at, token, length) != 0)
		return false;
	text->at += length;
	return true;
}

/* Copies the value of "schema", if that is the first member of the object. */
static bool read_schema(const char *json, size_t length, char schema[SCHEMA_BYTES])
{
	struct text text = {json, json + length};
	size_t size = 0;

	if (!take(&text, "{") || !take(&text, "\"schema\"") || !take(&text, ":") || !take(&text, "\""))
		return false;
	while (text.at < text.end && size + 1 < SCHEMA_BYTES && *text.at != '"')
		schema[size++] = *text.at++;
	schema[size] = '\0';
	return true;
}

/* Whether a schema is "kwhy.NAME/1" or "kwhy.NAME.KIND/1". */
static bool is_of(const char *schema, const char *name)
{
	static const char prefix[] = "kwhy.";
	const size_t length = strlen(schema), name_length = strlen(name);
	const char *rest = schema + sizeof(prefix) - 1;

	return length > 2 && !strncmp(schema, prefix, sizeof(prefix) - 1) &&
		!strcmp(schema + length - 2, "/1") && !strncmp(rest, name, name_length) &&
		(rest[name_length] == '/' || rest[name_length] == '.');
}

enum kwhy_status kwhy_own_result_refuse(
	const char *path, const char *schema, const char *wanted, struct kwhy_error *error)
{
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (is_of(schema, results[i].name))
			return kwhy_fail(error, KWHY_E_INPUT, "%.300s is %s, not %s; %s", path,
				results[i].what, wanted, results[i].reader);
	return KWHY_OK;
}

enum kwhy_status kwhy_own_result_refuse_head(const char *path, const unsigned char *head, size_t length,
	const char *wanted, struct kwhy_error *error)
{
	char schema[SCHEMA_BYTES];

	if (!read_schema((const char *)head, length, schema))
		return KWHY_OK;
	return kwhy_own_result_refuse(path, schema, wanted, error);
}

enum kwhy_status kwhy_own_result_refuse_file(const char *path, const char *wanted, struct kwhy_error *error)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	struct kwhy_error unused;
	size_t length;

	if (kwhy_trace_head_read(path, head, &length, &unused) != KWHY_OK)
		return KWHY_OK;
	return kwhy_own_result_refuse_head(path, head, length, wanted, error);
}
