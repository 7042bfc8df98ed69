/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "host/doctor.h"
#include "recording/wire.h"

#include <curses.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <jansson.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>
#include <zstd.h>

struct version_options {
	bool verbose;
};

static void add_build(struct kwhy_text *text)
{
	struct utsname machine = {0};

	(void)uname(&machine);
	kwhy_text_addf(text, "commit: %s\n", *KWHY_COMMIT ? KWHY_COMMIT : "not stated by this build");
	kwhy_text_addf(text, "build: by GCC or Clang %s, with glibc %d.%d\n", __VERSION__, __GLIBC__,
		__GLIBC_MINOR__);
	kwhy_text_addf(text, "here: Linux %s on %s, glibc %s\n", machine.release, machine.machine,
		gnu_get_libc_version());
	kwhy_text_addf(text, "recordings: version %d\n", KWHY_WIRE_VERSION);
}

static void add_libraries(struct kwhy_text *text)
{
	const unsigned hwloc = hwloc_get_api_version();

	kwhy_text_addf(text,
		"libraries: SQLite %s, Zstandard %s, zlib %s, Jansson %s, hwloc API %u.%u, libmicrohttpd %s, "
		"%s\n",
		sqlite3_libversion(), ZSTD_versionString(), zlibVersion(), jansson_version_str(), hwloc >> 16,
		(hwloc >> 8) & 0xff, MHD_get_version(), curses_version());
}

/* Writes those checks of kwhy doctor that are about the driver, the GPUs and kwhy's own parts. */
static void add_checks(struct kwhy_text *text, const struct kwhy_doctor_report *report)
{
	for (size_t i = 0; i < report->check_count; i++) {
		const struct kwhy_doctor_check *check = &report->checks[i];

		if (check->installation || strcmp(check->id, "driver") == 0 || strcmp(check->id, "gpus") == 0)
			kwhy_text_addf(text, "%s: %s\n", check->title, check->fact);
	}
	for (size_t i = 0; i < report->gpu_count; i++)
		kwhy_text_addf(text, "GPU %d: %s\n", report->gpus[i].index,
			report->gpus[i].name ? report->gpus[i].name : "without a name");
}

static enum kwhy_status add_more(struct kwhy_text *text, struct kwhy_error *error)
{
	const struct kwhy_doctor_request request = {.gpu = -1, .further = KWHY_INSTALLATION_CHECKS};
	struct kwhy_doctor_report report = {0};
	enum kwhy_status status = kwhy_doctor_run(&request, &report, error);

	if (!status)
		status = kwhy_installation_check(&report, error);
	if (!status) {
		add_build(text);
		add_libraries(text);
		add_checks(text, &report);
	}
	kwhy_doctor_done(&report);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct version_options *options = invocation->options;
	struct kwhy_text text = {0};
	enum kwhy_status status = KWHY_OK;

	kwhy_text_addf(&text, "%s " KWHY_VERSION "\n", kwhy_program.name);
	if (options->verbose)
		status = add_more(&text, error);
	if (!status)
		status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"verbose", 'v', NULL, "also commit, build, libraries, and what is here of the driver",
		KWHY_OPTION_FLAG, offsetof(struct version_options, verbose)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_version = {
	.name = "version",
	.operands = "",
	.summary = "Print the version.",
	.options = options_table,
	.options_bytes = sizeof(struct version_options),
	.run = run,
};
