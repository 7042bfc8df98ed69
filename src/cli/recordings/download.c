/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/download.h"

#include "base/temporary.h"
#include "base/text.h"
#include "cli/recordings/s3.h"
#include "llm/curl.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Value of CURLOPT_REDIR_PROTOCOLS, whose name newer headers of libcurl mark as deprecated.
 * CURLOPT_REDIR_PROTOCOLS_STR, which replaces it, is missing before libcurl 7.85.
 */
#define OPTION_REDIR_PROTOCOLS ((CURLoption)182)

enum {
	CONNECT_S = 30,
	SILENT_S = 60, /* seconds; if a server sends less than one byte per second for this time, the transfer
			  is ended */
	REDIRECTIONS_MAX = 5,
	NAME_BYTES = 128
};

bool kwhy_download_is_address(const char *text)
{
	return kwhy_curl_is_url(text) || kwhy_s3_is_address(text);
}

/* The address as it is shown in messages and stored in digests: without user, password and query. */
static const char *without_secrets(struct kwhy_arena *arena, const char *address)
{
	const char *start = strstr(address, "://") + 3;
	const char *end = address + strcspn(address, "?#");
	const char *host = memrchr(start, '@', strcspn(start, "/?#"));

	return kwhy_arena_printf(arena, "%.*s%.*s", (int)(start - address), address,
		(int)(end - (host ? host + 1 : start)), host ? host + 1 : start);
}

/*
 * Makes a file name of the part of `shown`, an address, after its last '/' ("trace" if that part is empty).
 * Characters other than letters, digits and "._-" become "_", and so does a dot in first place.
 */
static void name_file(const char *shown, char out[NAME_BYTES])
{
	const char *slash = strrchr(shown, '/');
	const char *name = slash && slash[1] ? slash + 1 : "trace";
	size_t length = strlen(name), skip = length >= NAME_BYTES ? length - NAME_BYTES + 1 : 0;

	snprintf(out, NAME_BYTES, "%s", name + skip); /* only the end of a long name is kept, because the
							 extension shows the format */
	for (char *at = out; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			*at = '_';
	if (out[0] == '.')
		out[0] = '_';
}

/*
 * Path and folder of the file that is being downloaded, for kwhy_download_remove_unfinished(), which a signal
 * handler calls. Only one file is downloaded at a time.
 */
static struct {
	atomic_bool is_there;
	char folder[KWHY_TEMPORARY_BYTES], path[KWHY_TEMPORARY_BYTES + NAME_BYTES];
} unfinished;

void kwhy_download_remove_unfinished(void)
{
	if (!atomic_load(&unfinished.is_there))
		return;
	unlink(unfinished.path);
	rmdir(unfinished.folder);
}

/*
 * Makes a private folder and stores its path in `unfinished`. Signals are blocked meanwhile, so that no
 * signal can end the program when the folder is made but not yet stored, which would leave the folder behind.
 */
static enum kwhy_status make_folder(
	char folder[KWHY_TEMPORARY_BYTES], const char *name, struct kwhy_error *error)
{
	enum kwhy_status status;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	status = kwhy_temporary_folder_make(folder, "download", "a trace", error);
	if (!status) {
		memcpy(unfinished.folder, folder, strlen(folder) + 1);
		snprintf(unfinished.path, sizeof(unfinished.path), "%s/%s", folder, name);
		atomic_store(&unfinished.is_there, true);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

static enum kwhy_status make_file(struct kwhy_download *download, FILE **out, struct kwhy_error *error)
{
	char folder[KWHY_TEMPORARY_BYTES], name[NAME_BYTES];
	enum kwhy_status status;

	name_file(download->shown, name);
	status = make_folder(folder, name, error);
	if (status)
		return status;
	download->folder = kwhy_arena_printf(&download->arena, "%s", folder);
	download->path = kwhy_arena_printf(&download->arena, "%s/%s", folder, name);
	if (!download->folder || !download->path) {
		kwhy_download_remove_unfinished();
		return kwhy_fail_memory(error, "a download");
	}
	*out = fopen(download->path, "wxe");
	return *out ? KWHY_OK
		    : kwhy_fail(error, KWHY_E_IO, "cannot write %.300s: %s", download->path, strerror(errno));
}

static enum kwhy_status fail_transfer(struct kwhy_curl *curl, CURL *easy, CURLcode code, const char *shown,
	const char *detail, int write_errno, struct kwhy_error *error)
{
	long answer = 0;

	if (code == CURLE_WRITE_ERROR)
		return kwhy_fail(error, KWHY_E_IO,
			"%.300s: cannot keep the file: %s; set TMPDIR to a folder with room for it", shown,
			strerror(write_errno));
	if (code != CURLE_HTTP_RETURNED_ERROR)
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s: %s; nothing of it was read, try it again",
			shown, *detail ? detail : curl->easy_strerror(code));
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer);
	return kwhy_fail(error, KWHY_E_INPUT, "%.300s: the server answers %ld; %s", shown, answer,
		answer == 404 || answer == 410		 ? "there is no such file, check the address"
			: answer == 401 || answer == 403 ? "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
							   "for s3, or name the host in ~/.netrc"
			: answer >= 500			 ? "try it later"
							 : "check the address");
}

/*
 * Makes the request for an address of http or https, or for the object that an address s3://BUCKET/KEY names.
 */
static enum kwhy_status make_request(
	struct kwhy_curl *curl, const char *address, struct kwhy_s3 *s3, CURL **out, struct kwhy_error *error)
{
	const bool is_s3 = kwhy_s3_is_address(address);
	enum kwhy_status status = is_s3 ? kwhy_s3_open(curl, address, s3, error) : KWHY_OK;

	if (status)
		return status;
	*out = kwhy_curl_new_request(curl, is_s3 ? s3->url.data : address, s3->headers);
	if (!*out)
		return kwhy_fail_memory(error, "a download");
	/* libcurl then takes the proxy from environment variables */
	curl->easy_setopt(*out, CURLOPT_PROXY, NULL);
	curl->easy_setopt(*out, CURLOPT_FAILONERROR, 1L);
	curl->easy_setopt(*out, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl->easy_setopt(*out, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl->easy_setopt(*out, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
	/* the key of an object may contain /../, which libcurl must not resolve */
	curl->easy_setopt(*out, CURLOPT_PATH_AS_IS, is_s3 ? 1L : 0L);
	if (is_s3)
		return kwhy_s3_sign(curl, *out, s3, error);
	/*
	 * only redirections to https are followed from https, since the file, and the password from ~/.netrc,
	 * would otherwise cross the network unencrypted
	 */
	curl->easy_setopt(*out, OPTION_REDIR_PROTOCOLS,
		(long)(strncmp(address, "https:", 6) == 0 ? CURLPROTO_HTTPS
							  : CURLPROTO_HTTPS | CURLPROTO_HTTP));
	curl->easy_setopt(*out, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	curl->easy_setopt(*out, CURLOPT_FOLLOWLOCATION, 1L);
	curl->easy_setopt(*out, CURLOPT_MAXREDIRS, (long)REDIRECTIONS_MAX);
	return KWHY_OK;
}

struct sink {
	FILE *file;
	int failed; /* errno of a failed write, kept because later calls of libcurl change errno; 0: no write
		       failed */
};

static size_t write_piece(char *bytes, size_t size, size_t count, void *context)
{
	struct sink *sink = context;
	const size_t written = fwrite(bytes, size, count, sink->file) * size;

	if (written < size * count)
		sink->failed = errno;
	return written;
}

static enum kwhy_status transfer(
	struct kwhy_curl *curl, CURL *easy, const char *shown, FILE *file, struct kwhy_error *error)
{
	struct sink sink = {.file = file};
	char detail[CURL_ERROR_SIZE] = "";
	CURLcode code;

	curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
	curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_piece);
	curl->easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
	code = curl->easy_perform(easy);
	if (code == CURLE_OK && fflush(file)) {
		code = CURLE_WRITE_ERROR;
		sink.failed = errno;
	}
	return code == CURLE_OK ? KWHY_OK
				: fail_transfer(curl, easy, code, shown, detail, sink.failed, error);
}

enum kwhy_status kwhy_download_get(const char *address, struct kwhy_download *out, struct kwhy_error *error)
{
	struct kwhy_curl curl;
	struct kwhy_s3 s3 = {0};
	CURL *easy = NULL;
	FILE *file = NULL;
	enum kwhy_status status = kwhy_curl_open(&curl, error);

	*out = (struct kwhy_download){0};
	if (status)
		return status;
	out->shown = without_secrets(&out->arena, address);
	status = out->shown ? make_request(&curl, address, &s3, &easy, error)
			    : kwhy_fail_memory(error, "a download");
	if (!status)
		status = make_file(out, &file, error);
	if (!status)
		status = transfer(&curl, easy, out->shown, file, error);
	if (file)
		fclose(file);
	if (easy)
		curl.easy_cleanup(easy);
	kwhy_s3_close(&curl, &s3);
	kwhy_curl_close(&curl);
	return status;
}

void kwhy_download_done(struct kwhy_download *download)
{
	if (download->path)
		unlink(download->path);
	if (download->folder)
		rmdir(download->folder);
	atomic_store(&unfinished.is_there, false);
	kwhy_arena_done(&download->arena);
	*download = (struct kwhy_download){0};
}

void kwhy_download_name(const struct kwhy_download *download, struct kwhy_error *error)
{
	const char *at = download->path ? strstr(error->text, download->path) : NULL;
	char text[sizeof(error->text)];

	if (!at)
		return;
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - error->text), error->text, download->shown,
		at + strlen(download->path));
	memcpy(error->text, text, sizeof(text));
}
