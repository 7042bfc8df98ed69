/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_READER_H
#define KWHY_OWNERS_READER_H

#include "base/status.h"
#include "owners/owner.h"

#include <stdint.h>

/*
 * Finds the owner of a process from /proc, the names of pods from /var/log/containers and /var/log/pods,
 * and CPU times from the cgroups' files. All of these files are readable without privileges, unless /proc
 * is mounted with hidepid. Only one thread at a time may use it.
 */
struct kwhy_owner_reader;

enum { KWHY_OWNER_ROOT_BYTES = 256 };

/*
 * `root`: the folder that contains proc, sys, var and etc; NULL: "/". The text is copied. KWHY_E_USAGE: it
 * has KWHY_OWNER_ROOT_BYTES or more.
 */
KWHY_MUST_USE enum kwhy_status kwhy_owner_reader_new(
	const char *root, struct kwhy_owner_reader **out, struct kwhy_error *error);
void kwhy_owner_reader_free(struct kwhy_owner_reader *reader);

/* A process's owner, and where its CPU time is read. */
struct kwhy_owned {
	struct kwhy_owner owner;
	uint64_t started; /* start of the process in clock ticks since boot, as in proc(5); 0: unknown */
	/*
	 * File with the CPU time of the owner's cgroup. "": the owner has no cgroup of its own, or its file
	 * cannot be read here, so the CPU time of the process is used.
	 */
	char cpu_file[512];
};

/*
 * Finds the owner of a process. If the process cannot be seen (it ended, or belongs to another PID
 * namespace), the kind is KWHY_OWNER_UNKNOWN.
 */
void kwhy_owner_reader_find(struct kwhy_owner_reader *reader, int64_t pid, struct kwhy_owned *out);

/* Start of a process, in the unit of struct kwhy_owned; 0: there is no such process. */
uint64_t kwhy_owner_reader_started(struct kwhy_owner_reader *reader, int64_t pid);

/* CPU time in ns of a cgroup (cpu_file) or, if cpu_file is "", of the process; -1: unknown. */
int64_t kwhy_owner_reader_cpu_ns(struct kwhy_owner_reader *reader, const char *cpu_file, int64_t pid);

/* Gets the login name of a user, or the number as text if the machine has no name for it. */
void kwhy_owner_reader_user(struct kwhy_owner_reader *reader, uint32_t uid, char out[KWHY_OWNER_USER_BYTES]);

#endif
