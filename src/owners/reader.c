/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/reader.h"

#include "owners/cgroup.h"
#include "owners/pods.h"
#include "owners/small_file.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 8192, USERS_MAX = 256 };

struct user {
	uint32_t uid;
	char name[KWHY_OWNER_USER_BYTES];
};

struct kwhy_owner_reader {
	char root[KWHY_OWNER_ROOT_BYTES];
	bool is_machine; /* root is "/": names of users come from the system's name service (getpwuid) */
	struct user users[USERS_MAX];
	size_t user_count;
};

enum kwhy_status kwhy_owner_reader_new(
	const char *root, struct kwhy_owner_reader **out, struct kwhy_error *error)
{
	struct kwhy_owner_reader *reader;

	if (root && strlen(root) >= sizeof(reader->root))
		return kwhy_fail(error, KWHY_E_USAGE,
			"the root %.80s... is too long; name a folder whose path has at most %zu bytes", root,
			sizeof(reader->root) - 1);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return kwhy_fail_memory(error, "the owners of processes");
	reader->is_machine = !root || strcmp(root, "/") == 0;
	if (!reader->is_machine)
		snprintf(reader->root, sizeof(reader->root), "%s", root);
	*out = reader;
	return KWHY_OK;
}

void kwhy_owner_reader_free(struct kwhy_owner_reader *reader)
{
	free(reader);
}

/* Reads the decimal number after blanks. False: there are no digits. */
static bool read_digits(const char *at, uint64_t *out)
{
	char *end;

	at += strspn(at, " \t");
	if (*at < '0' || *at > '9')
		return false;
	*out = strtoull(at, &end, 10);
	return true;
}

/*
 * Finds the name of a user in ROOT/etc/passwd. Only used if root is not "/". "": the file has no such user.
 */
static void find_in_passwd(const struct kwhy_owner_reader *reader, uint32_t uid, char *out, size_t out_bytes)
{
	char path[320], line[512];
	uint64_t found;
	FILE *file;

	snprintf(path, sizeof(path), "%s/etc/passwd", reader->root);
	file = fopen(path, "re");
	while (file && !*out && fgets(line, sizeof(line), file)) { /* a line is name:password:number:... */
		const char *name_end = strchr(line, ':'),
			   *word_end = name_end ? strchr(name_end + 1, ':') : NULL;

		if (word_end && read_digits(word_end + 1, &found) && found == uid)
			kwhy_owner_text(out, out_bytes, line, (size_t)(name_end - line));
	}
	if (file)
		fclose(file);
}

static void look_up(const struct kwhy_owner_reader *reader, uint32_t uid, char out[KWHY_OWNER_USER_BYTES])
{
	char buffer[4096];
	struct passwd entry, *found = NULL;

	*out = '\0';
	if (!reader->is_machine)
		find_in_passwd(reader, uid, out, KWHY_OWNER_USER_BYTES);
	else if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		kwhy_owner_text(out, KWHY_OWNER_USER_BYTES, found->pw_name, strlen(found->pw_name));
	if (!*out)
		snprintf(out, KWHY_OWNER_USER_BYTES, "%" PRIu32, uid);
}

void kwhy_owner_reader_user(struct kwhy_owner_reader *reader, uint32_t uid, char out[KWHY_OWNER_USER_BYTES])
{
	for (size_t i = 0; i < reader->user_count; i++)
		if (reader->users[i].uid == uid) {
			memcpy(out, reader->users[i].name, KWHY_OWNER_USER_BYTES);
			return;
		}
	look_up(reader, uid, out);
	if (reader->user_count == USERS_MAX)
		reader->user_count = 0; /* the table is full: drop all its names; a name that is needed later
					   is looked up anew */
	reader->users[reader->user_count].uid = uid;
	memcpy(reader->users[reader->user_count++].name, out, KWHY_OWNER_USER_BYTES);
}

static bool read_of(const struct kwhy_owner_reader *reader, int64_t pid, const char *name,
	char out[FILE_BYTES], size_t *out_length)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/proc/%" PRId64 "/%s", reader->root, pid, name);
	return kwhy_small_file_read(path, out, FILE_BYTES, out_length);
}

/*
 * Finds a number in the text of /proc/PID/stat. `place`: number of the field in proc(5), at least 3. Fields
 * are counted after the last closing parenthesis, since the command (field 2) is in parentheses and may
 * itself contain spaces and parentheses.
 */
static bool find_number(const char *stat, int place, uint64_t *out)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at && i < place; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && read_digits(at, out);
}

uint64_t kwhy_owner_reader_started(struct kwhy_owner_reader *reader, int64_t pid)
{
	enum { START_TIME = 22 };
	char text[FILE_BYTES];
	uint64_t started = 0;
	size_t length;

	if (!read_of(reader, pid, "stat", text, &length) || !find_number(text, START_TIME, &started))
		return 0;
	return started;
}

static void set_user(struct kwhy_owner_reader *reader, int64_t pid, struct kwhy_owner *owner)
{
	char text[FILE_BYTES];
	const char *line;
	uint64_t uid;
	size_t length;

	if (!read_of(reader, pid, "status", text, &length))
		return;
	line = strstr(text, "\nUid:");
	if (line && read_digits(line + strlen("\nUid:"), &uid) && uid <= UINT32_MAX)
		kwhy_owner_reader_user(reader, (uint32_t)uid, owner->user);
}

static void set_cpu_file(
	const struct kwhy_owner_reader *reader, const struct kwhy_cgroup *cgroup, struct kwhy_owned *out)
{
	const struct kwhy_span path = cgroup->cpu_path;

	/*
	 * a path with "/.." leads out of this process's cgroup namespace, so the cgroup's file is not below
	 * /sys/fs/cgroup
	 */
	if (path.length < 2 || path.length > 300 || memmem(path.bytes, path.length, "/..", 3))
		return;
	snprintf(out->cpu_file, sizeof(out->cpu_file), "%s/sys/fs/cgroup%s%.*s/%s", reader->root,
		cgroup->is_v1 ? "/cpuacct" : "", (int)path.length, path.bytes,
		cgroup->is_v1 ? "cpuacct.usage" : "cpu.stat");
	if (access(out->cpu_file, R_OK))
		*out->cpu_file = '\0';
}

void kwhy_owner_reader_find(struct kwhy_owner_reader *reader, int64_t pid, struct kwhy_owned *out)
{
	char text[FILE_BYTES];
	struct kwhy_cgroup cgroup;
	size_t length;

	*out = (struct kwhy_owned){.owner = {.kind = KWHY_OWNER_UNKNOWN}};
	out->started = kwhy_owner_reader_started(reader, pid);
	if (!read_of(reader, pid, "cgroup", text, &length))
		return;
	kwhy_cgroup_parse(text, length, &cgroup);
	out->owner = cgroup.owner;
	set_user(reader, pid, &out->owner);
	if (out->owner.kind == KWHY_OWNER_KUBERNETES)
		kwhy_pod_name(reader->root, &cgroup, &out->owner);
	if (out->owner.kind == KWHY_OWNER_USER)
		memcpy(out->owner.name, out->owner.user, sizeof(out->owner.user));
	set_cpu_file(reader, &cgroup, out);
}

/* CPU time of one process and of its ended children for which it waited, ns; -1: unknown. */
static int64_t process_cpu_ns(struct kwhy_owner_reader *reader, int64_t pid)
{
	enum { USER_TIME = 14, TIMES = 4 };
	char text[FILE_BYTES];
	uint64_t sum = 0, ticks;
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	size_t length;

	if (ticks_per_s <= 0 || !read_of(reader, pid, "stat", text, &length))
		return -1;
	for (int i = 0; i < TIMES; i++) {
		if (!find_number(text, USER_TIME + i, &ticks))
			return -1;
		sum += ticks;
	}
	return (int64_t)(sum * (UINT64_C(1000000000) / (uint64_t)ticks_per_s));
}

int64_t kwhy_owner_reader_cpu_ns(struct kwhy_owner_reader *reader, const char *cpu_file, int64_t pid)
{
	char text[FILE_BYTES];
	const char *usage;
	uint64_t used;
	size_t length;

	if (!*cpu_file)
		return process_cpu_ns(reader, pid);
	if (!kwhy_small_file_read(cpu_file, text, FILE_BYTES, &length))
		return -1;
	usage = strstr(text, "usage_usec ");
	if (usage) /* cpu.stat of cgroup v2 is in microseconds, cpuacct.usage of cgroup v1 in nanoseconds */
		return read_digits(usage + strlen("usage_usec"), &used) ? (int64_t)used * 1000 : -1;
	return read_digits(text, &used) ? (int64_t)used : -1;
}
