/* SPDX-License-Identifier: Apache-2.0 */
#include "model/projection.h"

const char *kwhy_bound_name(enum kwhy_bound bound)
{
	static const char *const names[KWHY_BOUND_COUNT] = {"expected", "upper", "lower"};

	return names[bound];
}

const char *kwhy_effort_name(enum kwhy_effort effort)
{
	static const char *const names[KWHY_EFFORT_COUNT] = {"lines", "days", "design"};

	return names[effort];
}

const char *kwhy_risk_name(enum kwhy_risk risk)
{
	static const char *const names[KWHY_RISK_COUNT] = {"none", "order", "numerics"};

	return names[risk];
}
