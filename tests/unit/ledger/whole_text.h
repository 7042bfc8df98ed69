/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_LEDGER_WHOLE_TEXT_H
#define KWHY_TESTS_UNIT_LEDGER_WHOLE_TEXT_H

#include "model/ledger.h"

#include <stdio.h>

/*
 * Writes every figure of a ledger as text, in lines of words "name=value". Counts and times are exact.
 * Energies (in J) and other real numbers begin with "~": they may differ in the last digits with another
 * processor.
 */
void whole_text_write(FILE *out, struct kwhy_ledger *ledger, const struct kwhy_recording *recording);

/*
 * Writes a shorter form of a text by whole_text_write(): its real numbers, and a hash of everything else.
 * With `is_exact` the hash also covers the real numbers, rounded to six digits.
 */
void whole_text_shorten(FILE *out, const char *text, bool is_exact);

/*
 * Returns the number, from 1, of the first line in which two texts differ; 0: they do not. Numbers after "~"
 * are compared to about six digits, all else exactly.
 */
size_t whole_text_difference(const char *expected, const char *got);

#endif
