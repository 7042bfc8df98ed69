/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_LINES_H
#define KWHY_LAB_FLOW_LINES_H

#include "lab/flow/flow.h"

/*
 * The text bridge of `flow`: a flow as a line of text, 36 words with spaces between: its number, x, y, z and
 * 32 energies, each as "%.9g" writes it, which is read as the same float again. A word's token is mix(FNV-1a
 * of its bytes + its place in the line). Pure.
 */
enum {
	KWHY_FLOW_LINE_PLACES = 4, /* words before the energies: alike in every precision */
	KWHY_FLOW_LINE_WORDS = KWHY_FLOW_LINE_PLACES + KWHY_FLOW_ENERGIES,
	KWHY_FLOW_LINE_BYTES = KWHY_FLOW_LINE_WORDS * 17 /* at most, with the end */
};

/* line[KWHY_FLOW_LINE_BYTES], e[KWHY_FLOW_ENERGIES]. */
void kwhy_flow_line_write(uint64_t at, const float *e, char *line);

/* Sum of the tokens of the first `words` words, modulo 2^64; e[KWHY_FLOW_ENERGIES] becomes what is read. */
uint64_t kwhy_flow_line_read(const char *line, uint32_t words, float *e);

#endif
