/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_check.h"

#include "cmocka_all.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct checking {
	const json_t *root;
	char *why;
	size_t why_bytes;
	char path[512];
};

typedef bool keyword_check(struct checking *checking, const json_t *rule, const json_t *value);

static bool check(struct checking *checking, const json_t *schema, const json_t *value);

static bool complain(struct checking *checking, const char *what, const char *detail)
{
	snprintf(checking->why, checking->why_bytes, "%s: %s %s", checking->path, what, detail);
	return false;
}

static bool is_of_type(const char *type, const json_t *value)
{
	static const struct {
		const char *name;
		json_type type;
	} types[] = {{"object", JSON_OBJECT}, {"array", JSON_ARRAY}, {"string", JSON_STRING},
		{"integer", JSON_INTEGER}, {"null", JSON_NULL}, {"boolean", JSON_TRUE},
		{"boolean", JSON_FALSE}, {"number", JSON_INTEGER}, {"number", JSON_REAL}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type) == 0 && types[i].type == json_typeof(value))
			return true;
	return false;
}

static bool check_type(struct checking *checking, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *type;

	if (json_is_string(rule))
		return is_of_type(json_string_value(rule), value) ||
			complain(checking, "is not of type", json_string_value(rule));
	json_array_foreach(rule, i, type) if (is_of_type(json_string_value(type), value)) return true;
	return complain(checking, "is of none of the types", "");
}

static bool check_enum(struct checking *checking, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *allowed;

	json_array_foreach(rule, i, allowed) if (json_equal(allowed, value)) return true;
	return complain(
		checking, "is none of the allowed:", json_is_string(value) ? json_string_value(value) : "");
}

static bool check_pattern(struct checking *checking, const json_t *rule, const json_t *value)
{
	regex_t regex;
	bool fits;

	if (!json_is_string(value))
		return true;
	if (regcomp(&regex, json_string_value(rule), REG_EXTENDED | REG_NOSUB))
		return complain(checking, "no regular expression:", json_string_value(rule));
	fits = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
	regfree(&regex);
	return fits || complain(checking, "does not match", json_string_value(rule));
}

static bool check_minimum(struct checking *checking, const json_t *rule, const json_t *value)
{
	return !json_is_number(value) || json_number_value(value) >= json_number_value(rule) ||
		complain(checking, "is below its minimum", "");
}

static bool check_maximum(struct checking *checking, const json_t *rule, const json_t *value)
{
	return !json_is_number(value) || json_number_value(value) <= json_number_value(rule) ||
		complain(checking, "is above its maximum", "");
}

static bool check_const(struct checking *checking, const json_t *rule, const json_t *value)
{
	return json_equal(rule, value) ||
		complain(checking, "is not", json_is_string(rule) ? json_string_value(rule) : "the constant");
}

static bool check_min_length(struct checking *checking, const json_t *rule, const json_t *value)
{
	return !json_is_string(value) || (json_int_t)json_string_length(value) >= json_integer_value(rule) ||
		complain(checking, "is too short", "");
}

static bool check_max_length(struct checking *checking, const json_t *rule, const json_t *value)
{
	return !json_is_string(value) || (json_int_t)json_string_length(value) <= json_integer_value(rule) ||
		complain(checking, "is too long", "");
}

static bool check_min_items(struct checking *checking, const json_t *rule, const json_t *value)
{
	if (json_is_array(value) && json_array_size(value) < (size_t)json_integer_value(rule))
		return complain(checking, "has too few items", "");
	return true;
}

static bool check_max_items(struct checking *checking, const json_t *rule, const json_t *value)
{
	return !json_is_array(value) || (json_int_t)json_array_size(value) <= json_integer_value(rule) ||
		complain(checking, "has too many items", "");
}

static bool check_required(struct checking *checking, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *name;

	if (!json_is_object(value))
		return true;
	json_array_foreach(
		rule, i, name) if (!json_object_get(value, json_string_value(name))) return complain(checking,
		"lacks", json_string_value(name));
	return true;
}

/*
 * Checks `part`, a member or item of the value, against `schema`. Adds `name` to the path that error messages
 * state, and removes it again if the part conforms.
 */
static bool check_part(struct checking *checking, const char *name, const json_t *schema, const json_t *part)
{
	size_t length = strlen(checking->path);

	snprintf(checking->path + length, sizeof(checking->path) - length, "/%s", name);
	if (!check(checking, schema, part))
		return false;
	checking->path[length] = '\0';
	return true;
}

static bool check_properties(struct checking *checking, const json_t *rule, const json_t *value)
{
	const char *name;
	json_t *schema;

	json_object_foreach((json_t *)rule, name, schema)
	{
		const json_t *part = json_object_get(value, name);

		if (part && !check_part(checking, name, schema, part))
			return false;
	}
	return true;
}

static bool check_items(struct checking *checking, const json_t *rule, const json_t *value)
{
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item)
	{
		char name[24];

		snprintf(name, sizeof(name), "%zu", i);
		if (!check_part(checking, name, rule, item))
			return false;
	}
	return true;
}

static bool check_ref(struct checking *checking, const json_t *rule, const json_t *value)
{
	static const char prefix[] = "#/$defs/";
	const char *ref = json_string_value(rule);
	const json_t *schema = strncmp(ref, prefix, sizeof(prefix) - 1) == 0
		? json_object_get(json_object_get(checking->root, "$defs"), ref + sizeof(prefix) - 1)
		: NULL;

	return schema ? check(checking, schema, value) : complain(checking, "no such definition:", ref);
}

static bool check_nothing(struct checking *checking, const json_t *rule, const json_t *value)
{
	(void)checking;
	(void)rule;
	(void)value;
	return true;
}

static const struct {
	const char *name;
	keyword_check *check;
} keywords[] = {
	{"type", check_type},
	{"enum", check_enum},
	{"pattern", check_pattern},
	{"minimum", check_minimum},
	{"maximum", check_maximum},
	{"const", check_const},
	{"minLength", check_min_length},
	{"maxLength", check_max_length},
	{"minItems", check_min_items},
	{"maxItems", check_max_items},
	{"required", check_required},
	{"properties", check_properties},
	{"items", check_items},
	{"$ref", check_ref},
	{"$schema", check_nothing},
	{"$defs", check_nothing},
	{"$id", check_nothing},
	{"format", check_nothing},
	/* check_others() checks it, for which it needs "properties", too */
	{"additionalProperties", check_nothing},
	{"title", check_nothing},
	{"description", check_nothing},
};

static keyword_check *find_keyword(const char *name)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strcmp(keywords[i].name, name) == 0)
			return keywords[i].check;
	return NULL;
}

/*
 * Checks the members that "properties" does not name: none may exist if "additionalProperties" is false;
 * otherwise each must conform to it.
 */
static bool check_others(struct checking *checking, const json_t *schema, const json_t *value)
{
	const json_t *rule = json_object_get(schema, "additionalProperties"),
		     *properties = json_object_get(schema, "properties");
	const char *name;
	json_t *part;

	if (!rule || json_is_true(rule))
		return true;
	json_object_foreach((json_t *)value, name, part)
	{
		if (json_object_get(properties, name))
			continue;
		if (json_is_false(rule))
			return complain(checking, "has a member that is not known:", name);
		if (!check_part(checking, name, rule, part))
			return false;
	}
	return true;
}

static bool check(struct checking *checking, const json_t *schema, const json_t *value)
{
	const char *name;
	json_t *rule;

	json_object_foreach((json_t *)schema, name, rule)
	{
		keyword_check *keyword = find_keyword(name);

		if (!keyword)
			return complain(checking, "a keyword that is not known:", name);
		if (!keyword(checking, rule, value))
			return false;
	}
	return check_others(checking, schema, value);
}

bool schema_check(const json_t *root, const json_t *schema, const json_t *value, char *why, size_t why_bytes)
{
	struct checking checking = {.root = root, .why = why, .why_bytes = why_bytes};

	return check(&checking, schema, value);
}

void assert_keeps_to_schema(const char *name, const json_t *document)
{
	char path[512], why[600];
	json_error_t where;
	json_t *schema;

	snprintf(path, sizeof(path), KWHY_SOURCE_DIR "/docs/formats/%s.schema.json", name);
	schema = json_load_file(path, 0, &where);
	if (!schema)
		fail_msg("%s line %d: %s", path, where.line, where.text);
	assert_non_null(document);
	if (!schema_check(schema, schema, document, why, sizeof(why)))
		fail_msg("%s", why);
	json_decref(schema);
}
