/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/compile.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOPPER = 90, OPTIONS_MAX = 16, CODE_MAX_BYTES = 64 << 20, PATH_BYTES = 4096 };

/*
 * Header of a file in the cache of compiled kernels. The key (write_key()) and the compiled code follow it.
 */
struct kept {
	char magic[8];
	/* sizes of the key and the code in bytes, and checksum of both */
	uint64_t key_bytes, code_bytes, checksum;
};

static const char magic[8] = "kwhycode";

/*
 * Writes the key of a compilation: everything that the compiled code depends on, which is the compiler's
 * version, the options, the source and, for hipRTC, the GPU's name.
 */
static void write_key(struct kwhy_text *key, const struct kwhy_rtc *rtc, const char *const *options,
	const struct kwhy_gpu_source *source, const struct kwhy_gpu_facts *facts)
{
	kwhy_text_addf(key, "%s %s\n%s\n", rtc->vendor == KWHY_DRIVER_CUDA ? "NVRTC" : "hipRTC",
		facts->compiler, rtc->vendor == KWHY_DRIVER_CUDA ? "" : facts->name);
	for (; *options; options++)
		kwhy_text_addf(key, "%s\n", *options);
	kwhy_text_add(key, source->text);
}

/*
 * Whether the folder belongs to this user and nobody else can write to it. Any other folder is not used,
 * because code from its files runs on the GPU.
 */
static bool is_private(const char *folder)
{
	struct stat info;

	return stat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
		(info.st_mode & 022) == 0;
}

/*
 * Gets the path of the cache's file for a key, and makes its folder if necessary. false: there is no cache
 * folder, or others than this user can write to it.
 */
static bool find_place(const struct kwhy_text *key, char *path, size_t path_bytes)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char folder[3072];

	if (cache && cache[0] == '/')
		snprintf(folder, sizeof(folder), "%s", cache);
	else if (home && home[0] == '/')
		snprintf(folder, sizeof(folder), "%s/.cache", home);
	else
		return false;
	(void)mkdir(folder, 0700);
	strncat(folder, "/kwhy", sizeof(folder) - strlen(folder) - 1);
	(void)mkdir(folder, 0700);
	return is_private(folder) &&
		(size_t)snprintf(path, path_bytes, "%s/%016llx.code", folder,
			(unsigned long long)kwhy_hash_bytes(KWHY_HASH_START, key->data, key->length)) <
		path_bytes;
}

static bool take(const struct kwhy_text *file, const struct kwhy_text *key, struct kwhy_rtc_code *out)
{
	const char *kept_key = file->data + sizeof(struct kept);
	struct kept head;

	if (file->length < sizeof(head))
		return false;
	memcpy(&head, file->data, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.key_bytes != key->length ||
		file->length - sizeof(head) - key->length != head.code_bytes ||
		file->length < sizeof(head) + key->length || memcmp(kept_key, key->data, key->length) != 0 ||
		kwhy_hash_bytes(0, kept_key, file->length - sizeof(head)) != head.checksum)
		return false;
	out->bytes = malloc(head.code_bytes + 1);
	if (!out->bytes)
		return false;
	memcpy(out->bytes, kept_key + key->length, head.code_bytes);
	out->bytes[head.code_bytes] = '\0';
	out->count = head.code_bytes;
	return true;
}

static bool read_kept(const char *path, const struct kwhy_text *key, struct kwhy_rtc_code *out)
{
	struct kwhy_text file = {0};
	struct kwhy_error unused;
	bool found = access(path, R_OK) == 0 &&
		kwhy_file_read(path, CODE_MAX_BYTES, &file, &unused) == KWHY_OK && take(&file, key, out);

	kwhy_text_done(&file);
	return found;
}

static bool write_all(int file, const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(file, bytes, count);

		if (written <= 0)
			return false;
		bytes += written;
		count -= (size_t)written;
	}
	return true;
}

/*
 * Writes a temporary file and renames it, so that readers see the complete file or no file. mkostemp() gives
 * the file the permission bits 0600, so the program's umask need not be changed. A failure is ignored.
 */
static void write_kept(const char *path, const struct kwhy_text *file)
{
	char beside[PATH_BYTES + 8];
	bool is_written;
	int opened;

	snprintf(beside, sizeof(beside), "%s.XXXXXX", path);
	opened = mkostemp(beside, O_CLOEXEC);
	if (opened < 0)
		return;
	is_written = write_all(opened, file->data, file->length);
	if (close(opened) != 0 || !is_written || rename(beside, path) != 0)
		(void)unlink(beside);
}

static void keep(const char *path, const struct kwhy_text *key, const struct kwhy_rtc_code *code)
{
	struct kept head = {.key_bytes = key->length, .code_bytes = code->count};
	struct kwhy_text file = {0};

	memcpy(head.magic, magic, sizeof(magic));
	head.checksum = kwhy_hash_bytes(kwhy_hash_bytes(0, key->data, key->length), code->bytes, code->count);
	kwhy_text_add_bytes(&file, &head, sizeof(head));
	kwhy_text_add_bytes(&file, key->data, key->length);
	kwhy_text_add_bytes(&file, code->bytes, code->count);
	if (!file.failed)
		write_kept(path, &file);
	kwhy_text_done(&file);
}

enum kwhy_status kwhy_gpu_compile(const struct kwhy_rtc *rtc, const struct kwhy_gpu_source *source,
	const struct kwhy_gpu_facts *facts, struct kwhy_rtc_code *out, struct kwhy_error *error)
{
	const char *options[OPTIONS_MAX + 2] = {NULL};
	char target[48], path[PATH_BYTES];
	struct kwhy_text key = {0};
	enum kwhy_status status;
	size_t count = 0;
	bool has_place;

	/* Only NVRTC is given the target; hipRTC compiles for the thread's current GPU. */
	snprintf(target, sizeof(target), "--gpu-architecture=sm_%d%s", facts->architecture,
		facts->architecture == HOPPER
			? "a"
			: ""); /* sm_90a, in place of sm_90, also allows instructions that only Hopper has */
	if (rtc->vendor == KWHY_DRIVER_CUDA)
		options[count++] = target;
	for (size_t i = 0; source->options && source->options[i]; i++) {
		if (i == OPTIONS_MAX)
			return kwhy_fail(error, KWHY_E_USAGE, "%s is compiled with more than %d options",
				source->title, OPTIONS_MAX);
		options[count++] = source->options[i];
	}
	write_key(&key, rtc, options, source, facts);
	has_place = !key.failed && find_place(&key, path, sizeof(path));
	if (has_place && read_kept(path, &key, out)) {
		kwhy_text_done(&key);
		return KWHY_OK;
	}
	status = kwhy_rtc_compile(rtc, source->title, source->text, options, out, error);
	if (!status && has_place)
		keep(path, &key, out);
	kwhy_text_done(&key);
	return status;
}
