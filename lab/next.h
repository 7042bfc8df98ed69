/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_NEXT_H
#define LAB_NEXT_H

/* Makes a call unless an earlier one has failed. */
#define NEXT(status, call)                 \
	do {                               \
		if (!(status))             \
			(status) = (call); \
	} while (0)

#endif
