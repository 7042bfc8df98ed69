/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/values.h"

#include <math.h>

double kwhy_json_real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *kwhy_json_text_of(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}
