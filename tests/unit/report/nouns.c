/* SPDX-License-Identifier: Apache-2.0 */
#include "nouns.h"
#include "ok.h"

#include "cmocka_all.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/*
 * Replaces the ledger's function in this test: idle energy is 100 W times the time; NAN if the device's
 * energy is unknown.
 */
double kwhy_ledger_idle_nj(
	const struct kwhy_ledger *ledger, uint32_t device, int64_t start_ns, int64_t end_ns)
{
	return ledger->devices[device].energy.known ? 100.0 * (double)(end_ns - start_ns) : NAN;
}

static uint32_t intern(struct kwhy_recording *recording, const char *name)
{
	uint32_t id;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &id, &error));
	return id;
}

static void add_activity(struct kwhy_recording *recording, enum kwhy_activity_kind kind,
	enum kwhy_copy_kind copy, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.kind = (uint8_t)kind;
	activity.copy_kind = (uint8_t)copy;
	activity.start_ns = start_ns;
	activity.end_ns = end_ns;
	activity.call = correlation;
	activity.stream = 0;
	OK(kwhy_recording_add_activity(recording, &activity, &error));
}

/*
 * Device, times in ns: h2d copy [100,200), idle, kernel [500,1000), idle, d2h copy [1100,1200). Host: the
 * call of the h2d copy returns at 300, and a synchronisation lasts from 350 to 400. So of the 300 ns for
 * which the device idles after that copy, the host waits for 150.
 */
static void fill_recording(struct kwhy_recording *recording, const char *name)
{
	struct kwhy_device device = {
		.index = 0, .rank = KWHY_NONE, .limit_mw = -1, .context_idle_mw = -1, .clean_idle_mw = -1};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	struct kwhy_thread thread = {.tid = 1};
	struct kwhy_stream stream = {.context = -1, .id = 7};
	struct kwhy_source source = {.path = "t.csv", .format = KWHY_FORMAT_CSV, .events = 6};
	uint32_t label = intern(recording, name);

	device.name = kwhy_recording_copy(recording, name, strlen(name));
	OK(kwhy_recording_add_source(recording, &source, NULL, &error));
	OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	add_activity(recording, KWHY_ACTIVITY_COPY, KWHY_COPY_H2D, 100, 200, 1);
	add_activity(recording, KWHY_ACTIVITY_KERNEL, KWHY_COPY_UNKNOWN, 500, 1000, 2);
	add_activity(recording, KWHY_ACTIVITY_COPY, KWHY_COPY_D2H, 1100, 1200, 3);
	OK(kwhy_recording_add_call(recording, 50, 300, intern(recording, "cudaMemcpy"), 0, 1, &error));
	OK(kwhy_recording_add_call(
		recording, 350, 400, intern(recording, "cudaStreamSynchronize"), 0, KWHY_NONE, &error));
	OK(kwhy_recording_add_call(recording, 410, 450, label, 0, 2, &error));
	OK(kwhy_recording_add_call(recording, 1050, 1250, intern(recording, "cudaMemcpy"), 0, 3, &error));
	OK(kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "odd", &error, "odd: %s", name));
	OK(kwhy_recording_finish(recording, &error));
}

static void fill_account(
	struct nouns *nouns, size_t at, enum kwhy_category category, const char *name, int64_t time_ns)
{
	nouns->accounts[at] = (struct kwhy_account){.category = category,
		.name = name,
		.count = 1,
		.time_ns = time_ns,
		.gross_nj = KWHY_UNKNOWN_NJ,
		.idle_nj = KWHY_UNKNOWN_NJ,
		.net_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.mean_power_mw = -1,
		.basis = KWHY_BASIS_NONE,
		.group = KWHY_NONE,
		.power_class = KWHY_NONE};
}

static void fill_ledger(struct nouns *nouns, const char *name)
{
	nouns->device.time = (struct kwhy_device_time){.first_ns = 100,
		.last_ns = 1200,
		.span_ns = 1100,
		.busy_ns = 700,
		.idle_ns = 400,
		.compute_ns = 500,
		.copy_ns = 200,
		.sync_ns = 150,
		.launch_ns = 40,
		.host_ns = 210,
		.kernel_count = 1,
		.kernel_total_ns = 500,
		.copy_count = 2,
		.busy_ratio = 7.0 / 11,
		.sm_weighted_ratio = NAN,
		.sm_weighted_known_ratio = NAN,
		.roofline_ratio = NAN,
		.mean_concurrency = 1};
	nouns->device.energy = (struct kwhy_device_energy){.clean_idle_nj = KWHY_UNKNOWN_NJ,
		.clean_idle_w = NAN,
		.context_idle_w = NAN,
		.expected_wrong_ratio = NAN,
		.counter_check_ratio = NAN,
		.highest_sample_w = NAN,
		.time_constant_s = NAN,
		.delay_s = NAN};
	fill_account(nouns, 0, KWHY_CATEGORY_COMPUTE, name, 500);
	fill_account(nouns, 1, KWHY_CATEGORY_COPY, "h2d", 100);
	fill_account(nouns, 2, KWHY_CATEGORY_COPY, "d2h", 100);
	fill_account(nouns, 3, KWHY_CATEGORY_SYNC, "idle: host in synchronize", 400);
	memcpy(nouns->account_of, (uint32_t[]){1, 0, 2}, sizeof(nouns->account_of));
	nouns->device.accounts = nouns->accounts;
	nouns->device.account_count = 4;
	nouns->device.account_of = nouns->account_of;
	nouns->ledger = (struct kwhy_ledger){
		.device_count = 1, .devices = &nouns->device, .roofline = {NAN, NAN, NAN}};
}

void nouns_init(struct nouns *nouns, const char *name)
{
	*nouns = (struct nouns){0};
	OK(kwhy_recording_new(&nouns->recording, &error));
	fill_recording(nouns->recording, name);
	fill_ledger(nouns, name);
	nouns->evidence = (struct kwhy_evidence){500, 1000, name, {name, NULL}};
	nouns->finding = (struct kwhy_finding){.id = "small-copies",
		.title = name,
		.headline = name,
		.device = 0,
		.count = 2,
		.time_ns = 200,
		.energy_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.evidence = &nouns->evidence,
		.evidence_count = 1,
		.cure = name,
		.saving = {.time_ns = 100,
			.energy_nj = KWHY_UNKNOWN_NJ,
			.low_nj = KWHY_UNKNOWN_NJ,
			.high_nj = KWHY_UNKNOWN_NJ,
			.assumption = name,
			.bound = KWHY_BOUND_UPPER}};
	nouns->findings = (struct kwhy_findings){.items = &nouns->finding, .count = 1};
	nouns->report = (struct kwhy_report){.recording = nouns->recording,
		.ledger = &nouns->ledger,
		.findings = &nouns->findings,
		.command = "kwhy report t.csv",
		.price_per_kwh = NAN,
		.intensity_g_per_kwh = NAN,
		.own_seconds = NAN};
}

void nouns_energy(struct nouns *nouns)
{
	static const int64_t gross_nj[] = {150000, 20000, 10000, 40000};
	struct kwhy_device_energy *energy = &nouns->device.energy;

	for (size_t i = 0; i < 4; i++) {
		struct kwhy_account *account = &nouns->accounts[i];

		account->gross_nj = gross_nj[i];
		account->idle_nj = 100 * account->time_ns;
		account->net_nj = account->gross_nj - account->idle_nj;
		account->low_nj = gross_nj[i] - 1000;
		account->high_nj = gross_nj[i] + 1000;
		account->mean_power_mw = gross_nj[i] * 1000 / account->time_ns;
		account->basis = KWHY_BASIS_DATA;
	}
	energy->known = true;
	energy->source = "nvml.energy_mj";
	energy->start_ns = 100;
	energy->end_ns = 1200;
	energy->metered_ns = 1100;
	energy->measured_nj = energy->attributed_nj = 220000;
	energy->context_idle_nj = 110000;
	energy->net_nj = 110000;
}

void nouns_done(struct nouns *nouns)
{
	kwhy_recording_free(nouns->recording);
}

struct kwhy_text nouns_text(const struct nouns *nouns, size_t columns, bool verbose)
{
	struct kwhy_text_style style = {.columns = columns, .verbose = verbose};
	struct kwhy_text out = {0};

	assert_int_equal(kwhy_report_text(&nouns->report, &style, &out, &error), KWHY_OK);
	return out;
}
