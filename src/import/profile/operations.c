/* SPDX-License-Identifier: Apache-2.0 */
#include "import/profile/operations.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 64, MEMORY = KWHY_PRECISION_COUNT };

#define RATE_MAX 1e18

/*
 * Operations of `kwhy bench ops` from whose rates the peaks are taken. cache-read is not among them, because
 * it does not read the device's memory, nor is mixed, because the device also copies while it computes in
 * fp32.
 */
static const struct source {
	const char *id, *unit;
	int peak; /* enum kwhy_precision, or MEMORY */
} sources[] = {
	{"fp64", "FLOP", KWHY_PRECISION_FP64},
	{"fp64-tensor", "FLOP", KWHY_PRECISION_FP64},
	{"fp32", "FLOP", KWHY_PRECISION_FP32},
	{"tf32-tensor", "FLOP", KWHY_PRECISION_TF32},
	{"bf16-tensor", "FLOP", KWHY_PRECISION_BF16},
	{"fp16", "FLOP", KWHY_PRECISION_FP16},
	{"fp16-tensor", "FLOP", KWHY_PRECISION_FP16},
	{"fp8-tensor", "FLOP", KWHY_PRECISION_FP8},
	{"memory-read", "B", MEMORY},
	{"memory-write", "B", MEMORY},
	{"memory-copy", "B", MEMORY},
};

static const struct source *find_source(const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "id"));

	for (size_t i = 0; id && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strcmp(sources[i].id, id) == 0)
			return &sources[i];
	return NULL;
}

static enum kwhy_status wrong(const char *path, const char *what, const char *words, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: operations%s%s %s; write that part anew with kwhy bench ops --update-profile", path,
		*what ? "." : "", what, words);
}

/*
 * Reads one operation and raises the peak of its precision, or of memory, to its rate. An unknown operation
 * is ignored, and so is one that was not measured (rate missing or null).
 */
static enum kwhy_status read_row(
	const char *path, const json_t *row, struct kwhy_profile *profile, struct kwhy_error *error)
{
	const struct source *source = find_source(row);
	const json_t *rate = json_object_get(row, "rate_per_s");
	const char *unit = json_string_value(json_object_get(row, "unit"));
	double rate_per_s = json_is_number(rate) ? json_number_value(rate) : NAN;
	double *peak;

	if (!source || !rate || json_is_null(rate))
		return KWHY_OK;
	if (!unit || strcmp(unit, source->unit) != 0)
		return wrong(path, source->id, "is counted in another unit than it is known in", error);
	if (!(rate_per_s >= 1 && rate_per_s <= RATE_MAX))
		return wrong(path, source->id, "has no rate between 1 and 1e18 a second", error);
	peak = source->peak == MEMORY ? &profile->peak_bytes_per_s : &profile->peak_flop_per_s[source->peak];
	*peak = fmax(*peak, rate_per_s);
	return KWHY_OK;
}

enum kwhy_status kwhy_import_profile_operations(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error)
{
	const char *schema = json_string_value(json_object_get(part, "schema"));
	const json_t *rows = json_object_get(part, "operations");
	enum kwhy_status status = KWHY_OK;

	if (!schema || strcmp(schema, "kwhy.ops/1") != 0)
		return wrong(path, "", "has not the schema \"kwhy.ops/1\"", error);
	if (!json_is_array(rows) || json_array_size(rows) > ROWS_MAX)
		return wrong(path, "operations", "is not a list of at most 64 operations", error);
	for (size_t i = 0; !status && i < json_array_size(rows); i++)
		status = read_row(path, json_array_get(rows, i), profile, error);
	return status;
}
