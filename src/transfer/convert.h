/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CONVERT_H
#define KWHY_TRANSFER_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the format (KWHY_TRANSFER_F32 and so on) exists and, for KWHY_TRANSFER_I8, `scale` is above 0 and
 * neither it nor 1 / scale is infinite.
 */
bool kwhy_transfer_can_convert(int format, float scale);

/*
 * Gets the factor that values are multiplied by before rounding: 1 / scale for KWHY_TRANSFER_I8, otherwise 1.
 */
float kwhy_transfer_inverse(int format, float scale);

/*
 * Does what kwhy_transfer_convert() does, with the factor from kwhy_transfer_inverse() in place of the scale,
 * and without checks. `to` is aligned to the size of its numbers.
 */
void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float inverse);

#endif
