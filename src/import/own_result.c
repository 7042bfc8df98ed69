/* SPDX-License-Identifier: Apache-2.0 */
#include "import/own_result.h"

#include "base/quantity.h"
#include "import/input.h"
#include "import/trace_head.h"

#include <string.h>

enum { SCHEMA_BYTES = 64 };

/*
 * The kinds of JSON results that kwhy writes. name: NAME in their member "schema", which is "kwhy.NAME/1" or
 * "kwhy.NAME.KIND/1"; what: what a file of the kind is; reader: which command reads it.
 */
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
	{"ops", "a result of kwhy bench ops",
		"kwhy report -o x.html shows it, and --ops of kwhy model roofline reads it"},
	{"transfers", "a result of kwhy bench transfer", "kwhy reads no such file"},
	{"pairs", "a result of kwhy bench pairs", "kwhy report reads the folder in which it lies"},
	{"compare", "a result of kwhy compare", "kwhy reads no such file"},
	{"compare-stat", "a result of kwhy compare", "kwhy reads no such file"},
	{"compare-llm", "a result of kwhy compare", "kwhy reads no such file"},
	{"doctor", "a result of kwhy doctor", "kwhy reads no such file"},
	{"llm", "a result of kwhy llm", "kwhy compare takes two of them or more"},
	{"measure", "a result of the library's measurements", "kwhy reads no such file"},
	{"model", "a result of kwhy model", "kwhy reads no such file"},
	{"replay", "a result of kwhy replay", "kwhy reads no such file"},
	{"verify", "a result of kwhy verify", "kwhy reads no such file"},
	{"twin", "a result of kwhy-lab", "kwhy report -o x.html shows it"},
	{"flow", "a result of kwhy-lab", "kwhy report -o x.html shows it"},
	{"train", "a result of kwhy-lab", "kwhy report -o x.html shows it"},
	{"decode", "a result of kwhy-lab", "kwhy report -o x.html shows it"},
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

/*
 * Copies the value of "schema", cut to SCHEMA_BYTES - 1. False: "schema" is not the first member of the
 * object.
 */
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

/* What follows "kwhy.NAME" in a schema, such as "/1" or ".KIND/1"; NULL: it has another name. */
static const char *rest_of(const char *schema, const char *name)
{
	static const char prefix[] = "kwhy.";
	const char *own = schema + sizeof(prefix) - 1;
	const size_t length = strlen(name);

	return !strncmp(schema, prefix, sizeof(prefix) - 1) && !strncmp(own, name, length) ? own + length
											   : NULL;
}

/* Whether a schema is "kwhy.NAME/1" or "kwhy.NAME.KIND/1". */
static bool is_of(const char *schema, const char *name)
{
	const char *rest = rest_of(schema, name);
	const size_t length = rest ? strlen(rest) : 0;

	return length >= 2 && (*rest == '/' || *rest == '.') && !strcmp(rest + length - 2, "/1");
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

/* Copies the schema that a file states; "": it states none, or cannot be read. */
static void read_file_schema(const char *path, char schema[SCHEMA_BYTES])
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	struct kwhy_error unused;
	size_t length;

	if (kwhy_trace_head_read(path, head, &length, &unused) ||
		!read_schema((const char *)head, length, schema))
		*schema = '\0';
}

enum kwhy_status kwhy_own_result_refuse_file(const char *path, const char *wanted, struct kwhy_error *error)
{
	char schema[SCHEMA_BYTES];

	read_file_schema(path, schema);
	return kwhy_own_result_refuse(path, schema, wanted, error);
}

bool kwhy_own_result_is(const char *path, const char *name)
{
	char schema[SCHEMA_BYTES];
	const char *rest;

	read_file_schema(path, schema);
	rest = rest_of(schema, name);
	return rest && *rest == '/';
}

enum kwhy_status kwhy_own_result_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error)
{
	char bytes[1 << 14], limit[KWHY_QUANTITY_BYTES];
	struct kwhy_input *input = NULL;
	size_t got = 1;
	enum kwhy_status status = kwhy_input_open(path, &input, error);

	while (!status && got > 0) {
		status = kwhy_input_read(input, bytes, sizeof(bytes), &got, error);
		if (!status && got > limit_bytes - out->length)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"'%.300s' is larger than the %s that such a file may have; is it the right "
				"one?",
				path, kwhy_quantity_bytes(limit, limit_bytes));
		if (!status)
			kwhy_text_add_bytes(out, bytes, got);
	}
	kwhy_input_close(input);
	return status ? status : kwhy_text_check(out, error);
}
