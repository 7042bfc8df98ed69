/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/operations.h"

#include "import/results/values.h"

#include <math.h>
#include <string.h>

static const json_t *find_row(const json_t *rows, const char *id)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) if (strcmp(kwhy_json_text_of(row, "id"), id) == 0) return row;
	return NULL;
}

/* KWHY_E_INPUT unless the row exists, was measured and has the unit `unit`. */
static enum kwhy_status check_row(
	const json_t *row, const char *label, const char *id, const char *unit, struct kwhy_error *error)
{
	if (!row)
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s has no operation '%.60s'", label, id);
	if (!(kwhy_json_real_of(row, "rate_per_s") > 0))
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s: '%.60s' was not measured: %.200s", label, id,
			kwhy_json_text_of(row, "missing"));
	if (strcmp(kwhy_json_text_of(row, "unit"), unit) != 0)
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s: '%.60s' counts %.40s, not %s", label, id,
			kwhy_json_text_of(row, "unit"), unit);
	return KWHY_OK;
}

static double constant_of(const json_t *row)
{
	return (kwhy_json_real_of(row, "gross_j") - kwhy_json_real_of(row, "net_j")) /
		kwhy_json_real_of(row, "seconds");
}

static enum kwhy_status read_rows(struct kwhy_read_ops *out, const char *label, const json_t *rows,
	const char *arithmetic, const char *memory, struct kwhy_error *error)
{
	const json_t *flops = find_row(rows, arithmetic), *bytes = find_row(rows, memory);
	enum kwhy_status status = check_row(flops, label, arithmetic, "FLOP", error);

	if (!status)
		status = check_row(bytes, label, memory, "B", error);
	if (status)
		return status;
	*out = (struct kwhy_read_ops){
		.flop_per_s = kwhy_json_real_of(flops, "rate_per_s"),
		.byte_per_s = kwhy_json_real_of(bytes, "rate_per_s"),
		.joules_per_flop = kwhy_json_real_of(json_object_get(flops, "net_j_per_unit"), "value"),
		.joules_per_byte = kwhy_json_real_of(json_object_get(bytes, "net_j_per_unit"), "value"),
		.constant_w = (constant_of(flops) + constant_of(bytes)) / 2,
	};
	return KWHY_OK;
}

enum kwhy_status kwhy_read_ops_of(struct kwhy_read_ops *out, const char *label, const char *json,
	size_t length, const char *arithmetic, const char *memory, struct kwhy_error *error)
{
	json_t *root = json_loadb(json, length, 0, NULL);
	json_t *nested = json_object_get(root, "operations");
	const json_t *ops = json_is_object(nested) ? nested : root;
	enum kwhy_status status;

	if (strcmp(kwhy_json_text_of(ops, "schema"), "kwhy.ops/1") == 0)
		status = read_rows(out, label, json_object_get(ops, "operations"), arithmetic, memory, error);
	else
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%.300s holds no operations; write them with kwhy bench ops --json", label);
	json_decref(root);
	return status;
}
