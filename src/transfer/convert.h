/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CONVERT_H
#define KWHY_TRANSFER_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the format exists and, for an integer format, the scale is valid. */
bool kwhy_transfer_can_convert(int format, float scale);

/* Gets the factor that values are multiplied by before rounding. */
float kwhy_transfer_inverse(int format, float scale);

/*
 * Does the same as kwhy_transfer_convert(), for a format and scale that are valid. `to` is aligned to the
 * size of its numbers.
 */
void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float inverse);

#endif
