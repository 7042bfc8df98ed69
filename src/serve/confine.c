/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/confine.h"

#include <asm/ioctls.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Numbers of system calls that older headers lack; they are the same on each architecture. RULESET_VERSION
 * and RULE_PATH_BENEATH are arguments of the calls of Landlock, 444 to 446.
 */
#define CLONE3 435
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define RULESET_VERSION 1
#define RULE_PATH_BENEATH 1
#define PIDFD_SEND_SIGNAL 424
#define IO_URING_SETUP 425
#define OPEN_TREE 428
#define MOVE_MOUNT 429
#define FSOPEN 430
#define FSCONFIG 431
#define FSMOUNT 432
#define FSPICK 433
#define PIDFD_GETFD 438
#define PROCESS_MADVISE 440
#define MOUNT_SETATTR 442
#define FCHMODAT2 452
#define SETXATTRAT 463
#define REMOVEXATTRAT 466
#define OPEN_TREE_ATTR 467
#define FILE_SETATTR 469

struct ruleset {
	uint64_t handled_fs;
};

struct path_beneath {
	uint64_t allowed_fs;
	int32_t folder;
} __attribute__((packed));

enum {
	RIGHT_WRITE_FILE = 1 << 1,
	RIGHT_REMOVE_FILE = 1 << 5,
	RIGHT_MAKE_REG = 1 << 8,
	RIGHT_REFER = 1 << 13,	  /* since Landlock version 2 */
	RIGHT_TRUNCATE = 1 << 14, /* since Landlock version 3 */
	RIGHTS_OF_ACCOUNTS = RIGHT_WRITE_FILE | RIGHT_REMOVE_FILE | RIGHT_MAKE_REG | RIGHT_TRUNCATE,
	/*
	 * bits of Landlock's rights that are taken away except where a rule allows them: execute, write,
	 * make, remove, link and truncate files, 0 to 14 without 2 and 3, the rights to read files and
	 * folders
	 */
	RIGHTS = 0x7FFF & ~(1 << 2) & ~(1 << 3)
};

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define NUMBER_END 0x40000000U /* system calls from this number on are those of the x32 ABI */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define NUMBER_END 0x7FFFFFFFU
#endif

/*
 * System calls that fail with EPERM, since no measurement and no answer to a client needs them. Some change
 * modes, owners and attributes of files, which Landlock does not restrict. io_uring is denied because
 * requests in its queues do what system calls do, but pass no filter.
 */
static const uint32_t denied[] = {
#ifdef SYS_chmod
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
#endif
	SYS_fchmod,
	SYS_fchmodat,
	FCHMODAT2,
	SYS_fchown,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
	SETXATTRAT,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_fremovexattr,
	REMOVEXATTRAT,
	FILE_SETATTR,
	SYS_truncate,
	IO_URING_SETUP,
	SYS_kill,
	SYS_tkill,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	PIDFD_SEND_SIGNAL,
	PIDFD_GETFD,
	PROCESS_MADVISE,
	SYS_execve,
	SYS_execveat,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
#endif
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_userfaultfd,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_open_by_handle_at,
	SYS_mount,
	SYS_umount2,
	OPEN_TREE,
	OPEN_TREE_ATTR,
	MOVE_MOUNT,
	FSOPEN,
	FSCONFIG,
	FSMOUNT,
	FSPICK,
	MOUNT_SETATTR,
	SYS_pivot_root,
	SYS_chroot,
	SYS_setns,
	SYS_unshare,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_acct,
	SYS_quotactl,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setgroups,
	SYS_capset,
	SYS_personality,
#ifdef SYS_iopl
	SYS_iopl,
	SYS_ioperm,
#endif
};

enum { DENIED_COUNT = sizeof(denied) / sizeof(denied[0]), STEPS = DENIED_COUNT + 26 };

/*
 * Whether this is a build with a sanitizer. When the program ends, a sanitizer starts another process, which
 * traces this one; a confined process could not start it, so such builds are not confined.
 */
static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

/*
 * Adds a rule to a Landlock ruleset that allows `rights` for a file, or for everything below a folder.
 * Returns 0, also if the path cannot be opened, or -1 with errno set.
 */
static int allow(int rules, const char *path, uint64_t rights)
{
	struct path_beneath rule = {rights, open(path, O_PATH | O_CLOEXEC)};
	long failed;

	if (rule.folder < 0)
		return 0;
	failed = syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
	close(rule.folder);
	return failed ? -1 : 0;
}

/*
 * Writes the path of the folder that contains a file, with symbolic links resolved, also those of the file
 * itself. "": the folder does not exist.
 */
static void find_folder(const char *file, char out[PATH_MAX])
{
	char path[PATH_MAX];

	out[0] = '\0';
	if (snprintf(path, sizeof(path), "%s", file) >= (int)sizeof(path))
		return;
	if (realpath(file, out)) {
		*strrchr(out, '/') = '\0';
		if (!*out)
			snprintf(out, PATH_MAX, "/");
	} else if (!realpath(dirname(path), out)) {
		out[0] = '\0';
	}
}

/*
 * Allows writing to the device files of GPUs, which vendors' libraries open when they need them, and to
 * /dev/null. Writing to the rest of /dev, which has disks, terminals and the memory of the machine, stays
 * forbidden. Returns 0, or -1 with errno set.
 */
static int allow_devices(int rules)
{
	static const char *const begins[] = {
		"nvidia", "nvgpu", "nvhost", "nvmap", "dri", "kfd", "dxg", "null"};
	DIR *folder = opendir("/dev");
	const struct dirent *entry;
	char path[sizeof("/dev/") + sizeof(entry->d_name)];
	int failed = 0;

	while (folder && !failed && (entry = readdir(folder)))
		for (size_t i = 0; !failed && i < sizeof(begins) / sizeof(begins[0]); i++) {
			if (strncmp(entry->d_name, begins[i], strlen(begins[i])) != 0)
				continue;
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			failed = allow(rules, path, RIGHT_WRITE_FILE);
		}
	if (folder)
		closedir(folder);
	return failed;
}

/*
 * Confines writing by Landlock: to the folder that contains `file` (NULL: to no folder), to the device files
 * of GPUs and to the names of threads. Returns 0 or an errno value.
 */
static int confine_files(const char *file)
{
	const long version = syscall(CREATE_RULESET, NULL, 0, RULESET_VERSION);
	struct ruleset ruleset = {RIGHTS};
	char folder[PATH_MAX] = "";
	int rules, code = 0;

	if (version < 0)
		return errno;
	if (version < 2)
		ruleset.handled_fs &= ~(uint64_t)RIGHT_REFER;
	if (version < 3)
		ruleset.handled_fs &= ~(uint64_t)RIGHT_TRUNCATE;
	rules = (int)syscall(CREATE_RULESET, &ruleset, sizeof(ruleset), 0);
	if (rules < 0)
		return errno;
	if (file)
		find_folder(file, folder);
	if ((*folder && allow(rules, folder, ruleset.handled_fs & RIGHTS_OF_ACCOUNTS)) ||
		allow_devices(rules) ||
		allow(rules, "/proc/self/task", RIGHT_WRITE_FILE) || /* a thread gets its name by a write to
									TID/comm in this folder */
		syscall(RESTRICT_SELF, rules, 0))
		code = errno;
	close(rules);
	return code;
}

#ifdef ARCHITECTURE

#define FAIL(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IF(value, jumps, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, jumps, otherwise)

/*
 * Installs a seccomp filter, for all threads, with which the calls in `denied` fail. Returns 0 or an errno
 * value.
 */
static int confine_calls(void)
{
	/*
	 * The last two arguments of a jump are how many of the next steps it skips: the first if its
	 * condition holds, the second if not. LOAD puts a field of the call in the accumulator that IF
	 * compares.
	 */
	const struct sock_filter first[] = {
		LOAD(arch),
		IF(ARCHITECTURE, 1, 0),
		FAIL(EPERM),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NUMBER_END, 0, 1),
		FAIL(EPERM),
		/*
		 * A filter cannot read the flags of clone3(), which are in memory, so it fails with ENOSYS;
		 * libraries then use clone(), which is allowed only to make threads.
		 */
		IF(CLONE3, 0, 1),
		FAIL(ENOSYS),
		IF(SYS_clone, 0, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
		ALLOW,
		FAIL(EPERM),
		IF(SYS_tgkill, 0, 4), /* allowed if its target is a thread of this process, as in abort() */
		LOAD(args[0]),
		IF((uint32_t)getpid(), 0, 1),
		ALLOW,
		FAIL(EPERM),
		IF(SYS_ioctl, 0, 5), /* denied: TIOCSTI and TIOCLINUX can put text into the input of a
					terminal, where a shell would run it */
		LOAD(args[1]),
		IF(TIOCSTI, 2, 0),
		IF(TIOCLINUX, 1, 0),
		ALLOW,
		FAIL(EPERM),
	};
	enum { FIRST_COUNT = sizeof(first) / sizeof(first[0]) };
	struct sock_filter steps[STEPS];
	struct sock_fprog program = {FIRST_COUNT + DENIED_COUNT + 2, steps};

	_Static_assert(FIRST_COUNT + DENIED_COUNT + 2 <= STEPS, "the filter has room");
	_Static_assert(DENIED_COUNT < 256, "jumps have 8 bits");
	memcpy(steps, first, sizeof(first));
	for (size_t i = 0; i < DENIED_COUNT; i++)
		steps[FIRST_COUNT + i] = (struct sock_filter)IF(denied[i], (uint8_t)(DENIED_COUNT - i), 0);
	steps[FIRST_COUNT + DENIED_COUNT] = (struct sock_filter)ALLOW;
	steps[FIRST_COUNT + DENIED_COUNT + 1] = (struct sock_filter)FAIL(EPERM);
	errno = 0;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return errno ? errno : EBUSY;
	return 0;
}

#else

static int confine_calls(void)
{
	return ENOSYS;
}

#endif

void kwhy_confine(const char *file, char out[KWHY_CONFINE_BYTES])
{
	int calls, files;

	if (is_sanitized()) {
		snprintf(out, KWHY_CONFINE_BYTES, "not confined: this is the build of a sanitizer");
		return;
	}
	calls = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? errno : 0;
	files = calls ? calls : confine_files(file);
	if (!calls)
		calls = confine_calls();
	if (!calls && !files)
		snprintf(out, KWHY_CONFINE_BYTES, "confined: it starts no programs and writes to no files%s",
			file ? " but those in the folder of the accounts" : "");
	else
		snprintf(out, KWHY_CONFINE_BYTES,
			"not wholly confined: this kernel refuses seccomp or Landlock (%s); confine the "
			"server by its "
			"service manager or container",
			strerror(calls ? calls : files));
}
