/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/writer.h"

#include "model/ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void kwhy_json_init(struct kwhy_json *json, struct kwhy_text *out)
{
	*json = (struct kwhy_json){.out = out, .empty = true};
}

static void add_escaped(struct kwhy_text *out, const char *value)
{
	kwhy_text_add(out, "\"");
	while (*value) {
		size_t plain = 0;

		while ((unsigned char)value[plain] >= 0x20 && value[plain] != '"' && value[plain] != '\\')
			plain++;
		kwhy_text_add_bytes(out, value, plain);
		value += plain;
		if (!*value)
			break;
		if (*value == '"' || *value == '\\')
			kwhy_text_addf(out, "\\%c", *value);
		else
			kwhy_text_addf(out, "\\u%04x", (unsigned)*value);
		value++;
	}
	kwhy_text_add(out, "\"");
}

/* Adds text as valid UTF-8, which JSON requires; paths and command lines may have other bytes. */
static void add_sanitized(struct kwhy_text *out, const char *value)
{
	char *clean = malloc(3 * strlen(value) + 1);

	if (!clean) {
		out->failed = true;
		return;
	}
	kwhy_text_sanitize(clean, value, strlen(value));
	add_escaped(out, clean);
	free(clean);
}

static void break_line(struct kwhy_json *json)
{
	if (json->row_depth) {
		if (!json->empty)
			kwhy_text_add(json->out, " ");
		return;
	}
	kwhy_text_add(json->out, "\n");
	kwhy_text_repeat(json->out, '\t', json->depth);
}

static void begin_value(struct kwhy_json *json, const char *key)
{
	if (!json->empty)
		kwhy_text_add(json->out, ",");
	if (json->depth)
		break_line(json);
	json->empty = false;
	if (!key)
		return;
	add_escaped(json->out, key);
	kwhy_text_add(json->out, ": ");
}

static void open_container(struct kwhy_json *json, const char *key, const char *bracket, bool row)
{
	begin_value(json, key);
	kwhy_text_add(json->out, bracket);
	json->depth++;
	json->row_depth += row || json->row_depth;
	json->empty = true;
}

static void close_container(struct kwhy_json *json, const char *bracket)
{
	json->depth--;
	if (!json->row_depth && !json->empty)
		break_line(json);
	json->row_depth -= json->row_depth > 0;
	json->empty = false;
	kwhy_text_add(json->out, bracket);
	if (!json->depth)
		kwhy_text_add(json->out, "\n");
}

void kwhy_json_object(struct kwhy_json *json, const char *key)
{
	open_container(json, key, "{", false);
}

void kwhy_json_array(struct kwhy_json *json, const char *key)
{
	open_container(json, key, "[", false);
}

void kwhy_json_row(struct kwhy_json *json, const char *key)
{
	open_container(json, key, "{", true);
}

void kwhy_json_list(struct kwhy_json *json, const char *key)
{
	open_container(json, key, "[", true);
}

void kwhy_json_object_end(struct kwhy_json *json)
{
	close_container(json, "}");
}

void kwhy_json_array_end(struct kwhy_json *json)
{
	close_container(json, "]");
}

void kwhy_json_int(struct kwhy_json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	kwhy_text_addf(json->out, "%" PRId64, value);
}

void kwhy_json_count(struct kwhy_json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	kwhy_text_addf(json->out, "%" PRIu64, value);
}

static void put_number(struct kwhy_json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		kwhy_json_null(json, key);
		return;
	}
	begin_value(json, key);
	kwhy_text_addf(json->out, "%.*g", digits, value);
}

void kwhy_json_real(struct kwhy_json *json, const char *key, double value)
{
	put_number(json, key, value, 9);
}

void kwhy_json_exact(struct kwhy_json *json, const char *key, double value)
{
	put_number(json, key, value, 15);
}

void kwhy_json_bool(struct kwhy_json *json, const char *key, bool value)
{
	begin_value(json, key);
	kwhy_text_add(json->out, value ? "true" : "false");
}

void kwhy_json_null(struct kwhy_json *json, const char *key)
{
	begin_value(json, key);
	kwhy_text_add(json->out, "null");
}

void kwhy_json_string(struct kwhy_json *json, const char *key, const char *value)
{
	if (!value) {
		kwhy_json_null(json, key);
		return;
	}
	begin_value(json, key);
	if (kwhy_text_is_clean(value, strlen(value)))
		add_escaped(json->out, value);
	else
		add_sanitized(json->out, value);
}

void kwhy_json_known(struct kwhy_json *json, const char *key, int64_t value)
{
	_Static_assert(KWHY_UNKNOWN_NJ == KWHY_UNKNOWN_NS, "one mark for both");
	if (value == KWHY_UNKNOWN_NJ)
		kwhy_json_null(json, key);
	else
		kwhy_json_int(json, key, value);
}

void kwhy_json_index(struct kwhy_json *json, const char *key, uint32_t value)
{
	if (value == KWHY_NONE)
		kwhy_json_null(json, key);
	else
		kwhy_json_count(json, key, value);
}

void kwhy_json_bytes(struct kwhy_json *json, const char *key, uint64_t value)
{
	if (value == KWHY_UNKNOWN_BYTES)
		kwhy_json_null(json, key);
	else
		kwhy_json_count(json, key, value);
}
