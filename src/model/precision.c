/* SPDX-License-Identifier: Apache-2.0 */
#include "model/precision.h"

#include <string.h>
#include <strings.h>

const char *kwhy_precision_name(enum kwhy_precision precision)
{
	static const char *const names[KWHY_PRECISION_COUNT] = {
		"fp64", "fp32", "tf32", "bf16", "fp16", "fp8"};

	return names[precision];
}

bool kwhy_unit_is_flop(const char *unit)
{
	return strncasecmp(unit, "flop", 4) == 0;
}

bool kwhy_unit_precision(const char *unit, enum kwhy_precision *out)
{
	if (strncmp(unit, "flop_", 5) != 0)
		return false;
	for (int i = 0; i < KWHY_PRECISION_COUNT; i++)
		if (strcmp(unit + 5, kwhy_precision_name((enum kwhy_precision)i)) == 0) {
			*out = (enum kwhy_precision)i;
			return true;
		}
	return false;
}
