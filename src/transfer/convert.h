/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CONVERT_H
#define KWHY_TRANSFER_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the format is one, with a scale that it can use. */
bool kwhy_transfer_can_convert(int format, float scale);

/* What values are multiplied by. */
float kwhy_transfer_inverse(int format, float scale);

/* As kwhy_transfer_convert(), of what can be converted. `to` is aligned to a number. */
void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float inverse);

#endif
