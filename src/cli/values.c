/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/values.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_value_price(
	const char *spec, double *out_price_per_kwh, char out_currency[16], struct kwhy_error *error)
{
	char *end;
	double price = strtod(spec, &end);

	if (end == spec || !isfinite(price) || price < 0)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--price takes a price per kWh like 0.30EUR, not '%.60s'", spec);
	end += strspn(end, " ");
	if (strlen(end) > 15 || strpbrk(end, "0123456789 ,./") || !kwhy_text_is_clean(end, strlen(end)))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--price: '%.60s' is not a currency; write it like 0.30EUR", end);
	*out_price_per_kwh = price;
	snprintf(out_currency, 16, "%s", end);
	return KWHY_OK;
}

enum kwhy_status kwhy_value_name_count(const char *option, const char *spec,
	char out_name[KWHY_COUNT_NAME_BYTES], double *out_count, struct kwhy_error *error)
{
	const char *equals = strchr(spec, '=');
	size_t length = equals ? (size_t)(equals - spec) : 0;
	char *end = NULL;
	double count = equals ? strtod(equals + 1, &end) : 0;

	if (!length || length >= KWHY_COUNT_NAME_BYTES || !kwhy_text_is_clean(spec, length))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--%s takes a name and a count like tokens=4096, not '%.60s'", option, spec);
	if (end == equals + 1 || *end || !isfinite(count) || count <= 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--%s: '%.60s' states no count above 0", option, spec);
	memcpy(out_name, spec, length);
	out_name[length] = '\0';
	*out_count = count;
	return KWHY_OK;
}

enum kwhy_status kwhy_value_work(
	const char *spec, char out_unit[KWHY_COUNT_NAME_BYTES], double *out_count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_value_name_count("work", spec, out_unit, out_count, error);

	if (!status && strchr(out_unit, ' '))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--work: the unit in '%.60s' has a space; write it without, like tokens=4096", spec);
	return status;
}
