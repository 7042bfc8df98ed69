/* SPDX-License-Identifier: Apache-2.0 */
#include "expected_text.h"

#include "base/file.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "ok.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

#define DIFFERENCE_MAX 2e-6

/*
 * Whether both texts continue with a number, and the numbers are equal to within a few millionths. If so,
 * moves both pointers behind them.
 */
static bool same_number(const char **a, const char **b)
{
	char *end_a, *end_b;
	double number_a, number_b;

	if (!isdigit((unsigned char)**a) || !isdigit((unsigned char)**b))
		return false;
	number_a = strtod(*a, &end_a);
	number_b = strtod(*b, &end_b);
	*a = end_a;
	*b = end_b;
	return fabs(number_a - number_b) <= DIFFERENCE_MAX * fmax(number_a, number_b);
}

static size_t line_of(const char *text, const char *at)
{
	size_t line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static void compare(const char *file, const char *expected, const char *got)
{
	const char *a = expected, *b = got;

	while (*a || *b) {
		const char *line_a = a, *line_b = b;

		if (same_number(&a, &b))
			continue;
		if (a != line_a || *a != *b)
			fail_msg("%s differs in line %zu: '%.60s' became '%.60s'; KWHY_UPDATE_GOLDEN=1 "
				 "accepts it",
				file, line_of(expected, line_a), line_a, line_b);
		a++;
		b++;
	}
}

void assert_expected_text(const char *file, const char *got)
{
	const char *update = getenv("KWHY_UPDATE_GOLDEN");
	struct kwhy_text path = {0}, expected = {0};

	kwhy_text_addf(&path, "%s/tests/unit/%s", KWHY_SOURCE_DIR, file);
	assert_non_null(path.data);
	if (update && *update == '1')
		OK(kwhy_file_write(path.data, got, strlen(got), &error));
	OK(kwhy_file_read(path.data, 1 << 24, &expected, &error));
	compare(file, expected.data, got);
	kwhy_text_done(&expected);
	kwhy_text_done(&path);
}

static uint32_t digest_bytes(uint32_t digest, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		digest = (digest ^ (unsigned char)bytes[i]) * 16777619u;
	return digest;
}

uint32_t digest_of_text(const char *text)
{
	uint32_t digest = 2166136261u;

	while (*text) {
		size_t whole = strspn(text, "0123456789"), length = whole;
		char *end = NULL;
		char rounded[32];

		if (whole && (text[whole] == '.' || text[whole] == 'e')) {
			snprintf(rounded, sizeof(rounded), "%.4e", strtod(text, &end));
			digest = digest_bytes(digest, rounded, strlen(rounded));
			text = end;
			continue;
		}
		length += whole == 0;
		digest = digest_bytes(digest, text, length);
		text += length;
	}
	return digest;
}
