/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONFINE_H
#define KWHY_SERVE_CONFINE_H

#include <stddef.h>

/*
 * Gives up rights that the server does not need, so that a client who exploits an error in it gains little.
 * Afterwards the process cannot start programs or processes, trace or signal other processes, or change
 * settings of the machine or modes and owners of files (seccomp). It can make, write and remove files only in
 * one folder, and else write only to the device files of GPUs, /dev/null and the names of its threads
 * (Landlock). Reading, network connections and threads stay allowed. Before Linux 6.2 Landlock cannot forbid
 * to empty other files. None of this can be undone.
 *
 * Landlock holds for the calling thread and for threads that it starts later. So call this before threads are
 * started, and after all that needs these rights. Files that are open already stay writable.
 */

enum { KWHY_CONFINE_BYTES = 256 };

/*
 * file: path of a file in the folder that stays writable; NULL: none does. `out` receives a sentence about
 * what the process is confined to or, if the kernel refused seccomp or Landlock, that it is not wholly
 * confined, and why.
 */
void kwhy_confine(const char *file, char out[KWHY_CONFINE_BYTES]);

#endif
