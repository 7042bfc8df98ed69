/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/audit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 64 };

/*
 * Reads the number at the start of `text`, in which commas separate thousands. *out_half: half a unit of its
 * last digit. Returns the text after it; NULL: there is no number.
 */
static const char *read_number(const char *text, double *out_value, double *out_half)
{
	char digits[VALUE_BYTES], *end;
	size_t length = 0, decimals = 0;
	bool point = false;
	double exponent = 0;

	for (; length + 1 < sizeof(digits) && (isdigit((unsigned char)*text) || strchr(".,", *text)) && *text;
		text++) {
		if (*text == ',')
			continue;
		decimals += point;
		point |= *text == '.';
		digits[length++] = *text;
	}
	digits[length] = '\0';
	if (!length)
		return NULL;
	*out_value = strtod(digits, &end);
	if (*end)
		return NULL;
	if ((*text == 'e' || *text == 'E') &&
		(isdigit((unsigned char)text[1]) || text[1] == '+' || text[1] == '-')) {
		exponent = (double)strtol(text + 1, &end, 10);
		text = end;
	}
	*out_value *= pow(10, exponent);
	*out_half = 0.5 * pow(10, exponent - (double)decimals);
	return text;
}

bool kwhy_audit_value_parse(const char *text, double *out_low, double *out_high, char *out_bound)
{
	double low, high, low_half, high_half, sign = 1;

	*out_bound = 0;
	for (; *text && strchr("~<>-+ ", *text); text++) {
		if (*text == '<' || *text == '>')
			*out_bound = *text;
		sign = *text == '-' ? -1 : sign;
	}
	text = read_number(text, &low, &low_half);
	if (!text)
		return false;
	high = low;
	high_half = low_half;
	if (*text == '-') {
		text = read_number(text + 1, &high, &high_half);
		/* The ends of a printed range are taken as exact: 25-35 is 25 to 35. */
		low_half = high_half = 0;
	}
	if (!text || *text || high < low)
		return false;
	*out_low = sign > 0 ? low - low_half : -(high + high_half);
	*out_high = sign > 0 ? high + high_half : -(low - low_half);
	return true;
}
