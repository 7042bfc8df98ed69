/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/values.h"

#include <math.h>
#include <string.h>

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

const json_t *kwhy_json_main_domain(const json_t *domains)
{
	static const char *const kinds[] = {"total", "device", "host", "wall"};
	size_t i;
	json_t *domain;

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		json_array_foreach((json_t *)domains, i, domain)
		{
			if (strcmp(kwhy_json_text_of(domain, "kind"), kinds[kind]) == 0)
				return domain;
		}
	}
	return NULL;
}

const json_t *kwhy_json_named(const json_t *array, const char *key, const char *name)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)array, i, item)
	{
		if (strcmp(kwhy_json_text_of(item, key), name) == 0)
			return item;
	}
	return NULL;
}

const json_t *kwhy_json_joules_per_unit(const json_t *work, const json_t *domain)
{
	const json_t *domains = json_object_get(work, "domains");

	return json_object_get(
		kwhy_json_named(domains, "name", kwhy_json_text_of(domain, "name")), "joules_per_unit");
}
