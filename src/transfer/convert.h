/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CONVERT_H
#define KWHY_TRANSFER_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the format exists and can use the scale. */
bool kwhy_transfer_can_convert(int format, float scale);

/* The factor by which values are multiplied. */
float kwhy_transfer_inverse(int format, float scale);

/* As kwhy_transfer_convert(), for a valid format and scale. `to` is aligned to its numbers. */
void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float inverse);

#endif
