/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into kwhy by LD_PRELOAD. Makes the N-th call of a kind fail, as KWHY_FAULT=KIND:N:HOW
 * states. KIND: alloc, read, write, open, rename, sync, thread or map. HOW: once; all (also all
 * later calls, as on a full disk); quota (all, with EDQUOT); intr (once, with EINTR); short (half
 * of the bytes are read or written); signal (SIGINT arrives before the call, which succeeds); kill
 * (SIGKILL arrives before the call or, in a write, after half of its bytes). The N-th call creates
 * the file KWHY_FAULT_MARK: if there is no such file at the end, kwhy made fewer than N calls. At
 * its end kwhy writes the number of blocks that it has not freed to the file KWHY_FAULT_LIVE. Child
 * processes run without faults.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum kind { ALLOC, READ, WRITE, OPEN, RENAME, SYNC, THREAD, MAP, KINDS };
enum how { ONCE, ALL, QUOTA, INTERRUPTED, SHORT, SIGNAL, KILL };

static const char *const kind_names[KINDS] = {
	"alloc", "read", "write", "open", "rename", "sync", "thread", "map"};
static const char *const how_names[] = {"once", "all", "quota", "intr", "short", "signal", "kill"};
static const int reasons[KINDS] = {ENOMEM, EIO, ENOSPC, EMFILE, EIO, EIO, EAGAIN, ENOMEM};

static enum kind chosen = KINDS;
static enum how how;
static long wanted;
static pid_t process;
static char mark[256], live_path[256];
static atomic_long calls, live;

/* glibc's own names of its allocator. Using them needs no dlsym(), which would allocate memory itself. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("KWHY_FAULT"), *path = getenv("KWHY_FAULT_MARK"),
		   *rest = getenv("KWHY_FAULT_LIVE");
	char name[16], way[16];
	long n;

	if (rest && !strcmp(program_invocation_short_name, "kwhy"))
		snprintf(live_path, sizeof(live_path), "%s", rest);
	process = getpid();
	if (!fault || !path || strcmp(program_invocation_short_name, "kwhy") != 0 ||
		sscanf(fault, "%15[a-z]:%ld:%15[a-z]", name, &n, way) != 3)
		return;
	snprintf(mark, sizeof(mark), "%s", path);
	for (size_t i = 0; i < sizeof(how_names) / sizeof(*how_names); i++)
		if (!strcmp(way, how_names[i]))
			how = (enum how)i;
	wanted = n;
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(name, kind_names[i]))
			chosen = (enum kind)i;
}

/*
 * Whether this call is the chosen one. Counts the calls of the chosen kind. Makes system calls directly, as
 * this file replaces their wrappers.
 */
static bool is_chosen(enum kind kind)
{
	long number, file;

	if (kind != chosen || syscall(SYS_getpid) != process)
		return false;
	number = atomic_fetch_add(&calls, 1) + 1;
	if (number != wanted && !((how == ALL || how == QUOTA) && number > wanted))
		return false;
	file = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (file >= 0)
		syscall(SYS_close, file);
	return true;
}

/* Whether this call must fail; then errno is set. Sends the signal first if HOW is signal or kill. */
static bool fails(enum kind kind)
{
	if (!is_chosen(kind))
		return false;
	if (how == SIGNAL) {
		raise(SIGINT);
		return false;
	}
	if (how == KILL)
		raise(SIGKILL);
	errno = how == INTERRUPTED ? EINTR : how == QUOTA ? EDQUOT : reasons[kind];
	return true;
}

static void *next(const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	if (!address)
		abort();
	return address;
}

#define NEXT(result, name, ...)             \
	static result (*real)(__VA_ARGS__); \
	if (!real)                          \
	*(void **)&real = next(#name)

__attribute__((destructor)) static void end(void)
{
	const long blocks = atomic_load(&live);
	char text[32];
	long file;
	int length = snprintf(text, sizeof(text), "%ld\n", blocks);

	if (!*live_path || syscall(SYS_getpid) != process)
		return;
	file = syscall(SYS_openat, AT_FDCWD, live_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file >= 0 && syscall(SYS_write, file, text, length) == length)
		syscall(SYS_close, file);
}

/* Counts the block that an allocation returned, if it did not fail, as not yet freed. Returns it. */
static void *counted(void *memory)
{
	if (memory)
		atomic_fetch_add(&live, 1);
	return memory;
}

EXPORTED void free(void *memory)
{
	if (memory)
		atomic_fetch_sub(&live, 1);
	__libc_free(memory);
}

EXPORTED void *malloc(size_t bytes)
{
	return fails(ALLOC) ? NULL : counted(__libc_malloc(bytes));
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
	return fails(ALLOC) ? NULL : counted(__libc_calloc(count, bytes));
}

EXPORTED void *realloc(void *memory, size_t bytes)
{
	void *moved = fails(ALLOC) ? NULL : __libc_realloc(memory, bytes);

	if (memory && !bytes && !moved)
		atomic_fetch_sub(&live, 1); /* size 0: glibc's realloc() has freed the block. If a fault
					       prevented that, the block is not kwhy's leak either */
	return memory ? moved : counted(moved);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(ALLOC) ? NULL : counted(__libc_memalign(alignment, bytes));
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	void *memory = fails(ALLOC) ? NULL : counted(__libc_memalign(alignment, bytes));

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}

static size_t cut(enum kind kind, size_t bytes, bool *out_fails)
{
	*out_fails = false;
	if (how == KILL && kind == WRITE)
		return bytes; /* the fault "kill" of a write is in is_killed_after() */
	if (how != SHORT) {
		*out_fails = fails(kind);
		return bytes;
	}
	return bytes > 1 && is_chosen(kind) ? bytes / 2 : bytes;
}

/* Whether this call must write half of its bytes and then get SIGKILL. */
static bool is_killed_after(enum kind kind)
{
	return kind == WRITE && how == KILL && is_chosen(kind);
}

#define WRAP_BYTES(kind, name, pointer, ...)                                \
	EXPORTED ssize_t name(int file, pointer bytes, size_t length)       \
	{                                                                   \
		bool failed;                                                \
		NEXT(ssize_t, name, int, pointer, size_t);                  \
		if (is_killed_after(kind) && real(file, bytes, length / 2)) \
			raise(SIGKILL);                                     \
		length = cut(kind, length, &failed);                        \
		return failed ? -1 : real(file, bytes, length);             \
	}
WRAP_BYTES(READ, read, void *)
WRAP_BYTES(WRITE, write, const void *)

#define WRAP_AT(kind, name, pointer)                                                \
	EXPORTED ssize_t name(int file, pointer bytes, size_t length, off_t offset) \
	{                                                                           \
		bool failed;                                                        \
		NEXT(ssize_t, name, int, pointer, size_t, off_t);                   \
		if (is_killed_after(kind) && real(file, bytes, length / 2, offset)) \
			raise(SIGKILL);                                             \
		length = cut(kind, length, &failed);                                \
		return failed ? -1 : real(file, bytes, length, offset);             \
	}
WRAP_AT(READ, pread, void *)
WRAP_AT(READ, pread64, void *)
WRAP_AT(WRITE, pwrite, const void *)
WRAP_AT(WRITE, pwrite64, const void *)

/*
 * Makes ferror() report an error of the stream, as a failed call does. Functions of streams are replaced in
 * addition to system calls because glibc's streams do not use the wrappers of this file.
 */
static void fail_stream(FILE *stream)
{
	enum { ERROR_SEEN = 0x20 }; /* _IO_ERR_SEEN of glibc */

	stream->_flags |= ERROR_SEEN;
}

EXPORTED size_t fread(void *out, size_t size, size_t count, FILE *stream)
{
	NEXT(size_t, fread, void *, size_t, size_t, FILE *);
	if (how > QUOTA || !fails(READ))
		return real(out, size, count, stream);
	fail_stream(stream);
	return 0;
}

EXPORTED size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
	NEXT(size_t, fwrite, const void *, size_t, size_t, FILE *);
	if (stream == stderr || (how > QUOTA && how < SIGNAL) || !fails(WRITE))
		return real(bytes, size, count, stream);
	fail_stream(stream);
	return 0;
}

EXPORTED int fflush(FILE *stream)
{
	NEXT(int, fflush, FILE *);
	if (stream == stderr || (how > QUOTA && how < SIGNAL) || !fails(WRITE))
		return real(stream);
	fail_stream(stream);
	return EOF;
}

/* Closes the stream even if the call fails, as fclose() does when its last write fails. */
EXPORTED int fclose(FILE *stream)
{
	bool failed;
	NEXT(int, fclose, FILE *);
	failed = how <= QUOTA && fails(WRITE);
	if (real(stream))
		return EOF;
	errno = failed ? (how == QUOTA ? EDQUOT : reasons[WRITE]) : errno;
	return failed ? EOF : 0;
}

static mode_t mode_of(int flags, va_list more)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(more, int) : 0;
}

#define WRAP_OPEN(name)                                            \
	EXPORTED int name(const char *path, int flags, ...)        \
	{                                                          \
		va_list more;                                      \
		mode_t mode;                                       \
		NEXT(int, name, const char *, int, ...);           \
		va_start(more, flags);                             \
		mode = mode_of(flags, more);                       \
		va_end(more);                                      \
		return fails(OPEN) ? -1 : real(path, flags, mode); \
	}
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPENAT(name)                                                  \
	EXPORTED int name(int folder, const char *path, int flags, ...)    \
	{                                                                  \
		va_list more;                                              \
		mode_t mode;                                               \
		NEXT(int, name, int, const char *, int, ...);              \
		va_start(more, flags);                                     \
		mode = mode_of(flags, more);                               \
		va_end(more);                                              \
		return fails(OPEN) ? -1 : real(folder, path, flags, mode); \
	}
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

#define WRAP_FOPEN(name)                                        \
	EXPORTED FILE *name(const char *path, const char *mode) \
	{                                                       \
		NEXT(FILE *, name, const char *, const char *); \
		return fails(OPEN) ? NULL : real(path, mode);   \
	}
WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

EXPORTED int rename(const char *from, const char *to)
{
	NEXT(int, rename, const char *, const char *);
	return fails(RENAME) ? -1 : real(from, to);
}

EXPORTED int renameat(int folder, const char *from, int to_folder, const char *to)
{
	NEXT(int, renameat, int, const char *, int, const char *);
	return fails(RENAME) ? -1 : real(folder, from, to_folder, to);
}

#define WRAP_FILE(name)                               \
	EXPORTED int name(int file)                   \
	{                                             \
		NEXT(int, name, int);                 \
		return fails(SYNC) ? -1 : real(file); \
	}
WRAP_FILE(fsync)
WRAP_FILE(fdatasync)

#define WRAP_TRUNCATE(name)                                   \
	EXPORTED int name(int file, off_t length)             \
	{                                                     \
		NEXT(int, name, int, off_t);                  \
		return fails(SYNC) ? -1 : real(file, length); \
	}
WRAP_TRUNCATE(ftruncate)
WRAP_TRUNCATE(ftruncate64)

EXPORTED int pthread_create(
	pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	return fails(THREAD) ? EAGAIN : real(out, attributes, run, argument);
}

#define WRAP_MAP(name)                                                                                 \
	EXPORTED void *name(void *at, size_t bytes, int protection, int flags, int file, off_t offset) \
	{                                                                                              \
		NEXT(void *, name, void *, size_t, int, int, int, off_t);                              \
		return fails(MAP) ? MAP_FAILED : real(at, bytes, protection, flags, file, offset);     \
	}
WRAP_MAP(mmap)
WRAP_MAP(mmap64)
