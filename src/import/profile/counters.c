/* SPDX-License-Identifier: Apache-2.0 */
#include "import/profile/counters.h"

#include <math.h>

#define BASE_MAX_W 1e6
#define SPREAD_MIN 1e-3
#define SPREAD_MAX 10
#define COUNT_MAX_J 1.0

static enum kwhy_status read_number(const char *path, const json_t *object, const char *key, double low,
	double high, double *out, struct kwhy_error *error)
{
	const json_t *value = json_object_get(object, key);

	*out = json_is_number(value) ? json_number_value(value) : NAN;
	return *out >= low && *out <= high ? KWHY_OK
					   : kwhy_fail(error, KWHY_E_INPUT,
						     "%s: counter_model.%s is not a number between %g and "
						     "%g; docs/formats/profile.md says "
						     "what a machine profile holds",
						     path, key, low, high);
}

enum kwhy_status kwhy_import_profile_counters(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error)
{
	struct kwhy_counter_model model;
	const json_t *joules = json_object_get(part, "joules");
	enum kwhy_status status = read_number(path, part, "base_w", 0, BASE_MAX_W, &model.base_w, error);

	if (!status)
		status = read_number(path, part, "sampling_w", 0, BASE_MAX_W, &model.sampling_w, error);
	if (!status)
		status = read_number(path, part, "spread", SPREAD_MIN, SPREAD_MAX, &model.spread, error);
	for (unsigned i = 0; !status && i < KWHY_PERF_COUNTER_COUNT; i++)
		status = read_number(path, joules, kwhy_perf_counter_name((enum kwhy_perf_counter)i), 0,
			COUNT_MAX_J, &model.joules[i], error);
	if (!status)
		profile->counter_model = model;
	return status;
}
