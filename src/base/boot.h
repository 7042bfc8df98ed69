/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_BOOT_H
#define KWHY_BASE_BOOT_H

enum { KWHY_BOOT_BYTES = 64 };

/*
 * Which start of which machine this is, as random(4) has it: the same in all its containers, whatever they
 * are called, and another after the next start. "": not reported. `path` NULL:
 * /proc/sys/kernel/random/boot_id. Any thread; allocates nothing.
 */
void kwhy_boot_read(const char *path, char out[KWHY_BOOT_BYTES]);

#endif
