/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/interval.h"

#include <math.h>

struct kwhy_interval kwhy_interval_exact(double value)
{
	return (struct kwhy_interval){value, NAN, NAN};
}

struct kwhy_interval kwhy_interval_unknown(void)
{
	return (struct kwhy_interval){NAN, NAN, NAN};
}

struct kwhy_interval kwhy_interval_scaled(struct kwhy_interval a, double factor)
{
	double low = a.low * factor, high = a.high * factor;

	return (struct kwhy_interval){a.value * factor, factor < 0 ? high : low, factor < 0 ? low : high};
}

struct kwhy_interval kwhy_interval_sum(struct kwhy_interval a, struct kwhy_interval b)
{
	return (struct kwhy_interval){a.value + b.value, a.low + b.low, a.high + b.high};
}

struct kwhy_interval kwhy_interval_difference(struct kwhy_interval a, struct kwhy_interval b)
{
	double value = a.value - b.value;

	return (struct kwhy_interval){value, value - hypot(a.value - a.low, b.high - b.value),
		value + hypot(a.high - a.value, b.value - b.low)};
}

struct kwhy_interval kwhy_interval_inverse(struct kwhy_interval a)
{
	if (!(a.value > 0))
		return kwhy_interval_unknown();
	return (struct kwhy_interval){1 / a.value, a.low > 0 ? 1 / a.high : NAN, a.low > 0 ? 1 / a.low : NAN};
}
