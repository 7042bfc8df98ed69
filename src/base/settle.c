/* SPDX-License-Identifier: Apache-2.0 */
#include "base/settle.h"

#include <errno.h>
#include <time.h>

void kwhy_settle(int64_t length_ns)
{
	struct timespec left = {length_ns / 1000000000, length_ns % 1000000000};

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}
