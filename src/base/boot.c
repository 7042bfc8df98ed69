/* SPDX-License-Identifier: Apache-2.0 */
#include "base/boot.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void kwhy_boot_read(const char *path, char out[KWHY_BOOT_BYTES])
{
	const int file = open(path ? path : "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, out, KWHY_BOOT_BYTES - 1);

	if (file >= 0)
		close(file);
	out[length < 0 ? 0 : length] = '\0';
	out[strcspn(out, "\n")] = '\0';
}
