/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_BOOT_H
#define KWHY_BASE_BOOT_H

enum { KWHY_BOOT_BYTES = 64 };

/*
 * Reads the machine's boot id (random(4)). It is the same in all containers of the machine, whatever their
 * host names, and changes with each boot. "": not reported. `path` NULL: /proc/sys/kernel/random/boot_id. Any
 * thread; allocates nothing.
 */
void kwhy_boot_read(const char *path, char out[KWHY_BOOT_BYTES]);

#endif
