/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/audit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 5 };

/*
 * Fuzzes the audit of two claims, which have the same value, unit, window and role; only the second one has a
 * formula. The input has them in its first five lines: value, unit, formula, window, role.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *fields[FIELDS] = {"", "", "", "", ""};
	struct kwhy_claim claims[2];
	struct kwhy_audit audit;
	struct kwhy_error error;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	fields[0] = text;
	for (size_t i = 1; i < FIELDS; i++) {
		char *end = strchr(fields[i - 1], '\n');

		if (!end)
			break;
		*end = '\0';
		fields[i] = end + 1;
	}
	for (int i = 0; i < 2; i++)
		claims[i] = (struct kwhy_claim){i ? "b" : "a", "", fields[0], fields[1], fields[3],
			i ? fields[2] : "", "s", fields[4]};
	if (kwhy_audit_of(claims, 2, &audit, &error) == KWHY_OK && audit.finding_count > 16)
		abort();
	kwhy_audit_done(&audit);
	free(text);
	return 0;
}
