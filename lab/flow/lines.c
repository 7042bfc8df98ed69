/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/lines.h"

#include "lab/flow/rules.h"

#include <stdio.h>
#include <stdlib.h>

void kwhy_flow_line_write(uint64_t at, const float *e, char *line)
{
	char *next = line, *end = line + KWHY_FLOW_LINE_BYTES;

	next += snprintf(next, (size_t)(end - next), "%u %u %u %u", (uint32_t)(at >> 32), kwhy_flow_x(at),
		kwhy_flow_y(at), kwhy_flow_z(at));
	for (uint32_t k = 0; k < KWHY_FLOW_ENERGIES; k++)
		next += snprintf(next, (size_t)(end - next), " %.9g", (double)e[k]);
}

/* Up to the next space or the end. */
static uint64_t hash_word(const char **word)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; **word && **word != ' '; (*word)++)
		hash = (hash ^ (unsigned char)**word) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t kwhy_flow_line_read(const char *line, uint32_t words, float *e)
{
	uint64_t sum = 0;

	for (uint32_t j = 0; j < KWHY_FLOW_LINE_WORDS; j++) {
		const char *word = line;
		uint64_t hash = hash_word(&line);

		if (j < words)
			sum += kwhy_splitmix(hash + j);
		if (j >= KWHY_FLOW_LINE_PLACES)
			e[j - KWHY_FLOW_LINE_PLACES] = strtof(word, NULL);
		line += *line == ' ';
	}
	return sum;
}
