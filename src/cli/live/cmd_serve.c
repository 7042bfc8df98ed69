/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/live/job.h"
#include "cli/live/kubelet.h"
#include "cli/live/otlp.h"
#include "cli/output.h"
#include "serve/confine.h"
#include "serve/metrics.h"
#include "serve/page.h"
#include "serve/server.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* shortest and longest time between two regular updates, in ms */
	TICK_MIN_MS = 1000,
	TICK_MAX_MS = 10000,
	FRESH_MS = 100, /* in ms; if the last readings are older than this when metrics are scraped, the
			   meters are read first */
	/*
	 * in ms; if three successive scrapes of the metrics come within this time, power samples are read
	 * more often for VIEW_MS (kwhy_sensors_view())
	 */
	OFTEN_MS = 1200,
	/* in ms; time after the third of such scrapes for which power samples are read more often */
	VIEW_MS = 3000,
	ASKING_MS = 100, /* in ms; while a request to the kubelet is under way, longest time until its answer
			    is looked for again */
	TOKEN_BYTES_MIN = 16, /* in bytes; a shorter token could be guessed */
	TOKEN_BYTES_MAX = 4096,
	PEM_BYTES_MAX = 1 << 20,
	HOST_BYTES = 256
};

struct serve_options {
	struct kwhy_live_options live;
	const char *listen, *token, *tls_cert, *tls_key;
	const char *accounts, *mapping, *root, *otlp;
	uint64_t owners_max;
	bool allow_open, unconfined, verbose;
};

/*
 * State of kwhy serve: the meters' figures, and the accounts of the owners (jobs, containers, users) that
 * used the devices.
 */
struct serving {
	struct kwhy_live_job job;
	int64_t scraped_ns[2]; /* times of the last two scrapes on CLOCK_MONOTONIC, the earlier one first */
	int tick_ms;	       /* time between two regular updates */
	struct kwhy_keeper *keeper;   /* NULL: no accounts are kept, because the readings come from a file and
					 the processes are unknown */
	struct kwhy_kubelet *kubelet; /* NULL: no accounts are kept */
	struct kwhy_otlp *otlp;	      /* NULL: no figures are sent to a collector */
	char host[HOST_BYTES];
	bool has_warned; /* a message has said that accounts cannot be stored, and no storing has succeeded
			    since that message */
};

/* Secrets of the server; this struct owns their memory. */
struct secrets {
	struct kwhy_text token, cert, key;
};

static void secrets_done(struct secrets *secrets)
{
	kwhy_text_done(&secrets->token);
	kwhy_text_done(&secrets->cert);
	kwhy_text_done(&secrets->key);
}

static void set_defaults(void *options)
{
	struct serve_options *serve = options;

	kwhy_live_options_init(&serve->live, true);
	serve->listen = "127.0.0.1:9835";
	serve->owners_max = KWHY_OWNERS_MAX_DEFAULT;
}

/*
 * Fails if every user of the machine can write a secret's file. Only prints a warning if every user can read
 * it, because secrets that are mounted in containers usually are readable.
 */
static enum kwhy_status check_mode(const char *path, struct kwhy_error *error)
{
	struct stat facts;
	char text[400];

	if (stat(path, &facts))
		return KWHY_OK; /* no error here: reading the file will fail, too, and report why */
	if (S_ISREG(facts.st_mode) && facts.st_mode & S_IWOTH)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s: everybody on this machine may write to it, so it keeps no secret; make a "
			"new one after chmod 600",
			path);
	if (S_ISREG(facts.st_mode) && facts.st_mode & S_IROTH) {
		snprintf(
			text, sizeof(text), "%.300s: everybody on this machine may read it; chmod 600", path);
		kwhy_output_message(text);
	}
	return KWHY_OK;
}

static enum kwhy_status read_secret(
	const char *path, size_t bytes_max, struct kwhy_text *out, struct kwhy_error *error)
{
	enum kwhy_status status = check_mode(path, error);

	return status ? status : kwhy_file_read(path, bytes_max, out, error);
}

static enum kwhy_status read_token(const char *path, struct kwhy_text *out, struct kwhy_error *error)
{
	enum kwhy_status status = read_secret(path, TOKEN_BYTES_MAX, out, error);

	if (status)
		return status;
	while (out->length > 0 && strchr(" \t\r\n", out->data[out->length - 1]))
		out->data[--out->length] = '\0';
	for (size_t i = 0; i < out->length; i++)
		if (out->data[i] <= ' ' || out->data[i] > '~')
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: a token is one line of letters, digits and signs without blanks", path);
	if (out->length < TOKEN_BYTES_MIN)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: a token has at least %d characters; make one with: openssl rand -hex 32", path,
			TOKEN_BYTES_MIN);
	return KWHY_OK;
}

static enum kwhy_status read_secrets(
	const struct serve_options *options, struct secrets *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!options->tls_cert != !options->tls_key)
		return kwhy_fail(error, KWHY_E_USAGE, "--tls-cert and --tls-key go together");
	if (options->token)
		status = read_token(options->token, &out->token, error);
	if (!status && options->tls_cert)
		status = kwhy_file_read(options->tls_cert, PEM_BYTES_MAX, &out->cert, error);
	if (!status && options->tls_key)
		status = read_secret(options->tls_key, PEM_BYTES_MAX, &out->key, error);
	return status;
}

/*
 * Fails if the address is not a loopback address and there is neither a token nor --allow-open, so that other
 * hosts could read the figures. Prints a warning if the token would cross the network unencrypted.
 */
static enum kwhy_status check_openness(
	const struct serve_options *options, const union kwhy_address *address, struct kwhy_error *error)
{
	char text[KWHY_ADDRESS_BYTES];

	if (kwhy_address_is_loopback(address))
		return KWHY_OK;
	if (!options->token && !options->allow_open)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s can be reached from other machines, where anybody could read which programs run "
			"here; add --token FILE, or --allow-open if that is wanted",
			kwhy_address_write(address, text));
	if (options->token && !options->tls_cert)
		kwhy_output_message("the token crosses the network readable by others on its way; add "
				    "--tls-cert and --tls-key");
	return KWHY_OK;
}

/* Prints a message when accounts can no longer be stored, and another when they can be stored again. */
static void warn(struct serving *serving)
{
	const char *problem = kwhy_keeper_state(serving->keeper).store_problem;

	if (problem && !serving->has_warned)
		kwhy_output_message(problem);
	else if (!problem && serving->has_warned)
		kwhy_output_message("accounts are stored again, with all that waited");
	serving->has_warned = problem != NULL;
}

static void ask_kubelet(struct serving *serving)
{
	const char *message = kwhy_kubelet_tick(serving->kubelet, kwhy_clock_mono_ns());

	if (message)
		kwhy_output_message(message);
}

static enum kwhy_status tick(struct serving *serving, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (serving->keeper)
		ask_kubelet(serving);
	if (kwhy_live_job_wait_ms(&serving->job))
		return KWHY_OK;
	status = kwhy_live_job_tick_regularly(&serving->job, serving->tick_ms, error);
	if (status || !serving->keeper)
		return status;
	status = kwhy_keeper_tick(serving->keeper, kwhy_clock_mono_ns(), error);
	warn(serving);
	return status;
}

static int wait_ms(const struct serving *serving)
{
	const int wait_ms = kwhy_live_job_wait_ms(&serving->job);

	return serving->kubelet && kwhy_kubelet_is_asking(serving->kubelet) && wait_ms > ASKING_MS ? ASKING_MS
												   : wait_ms;
}

/*
 * Has the power samples read more often for VIEW_MS if this scrape and the two before it came within
 * OFTEN_MS.
 */
static void note_scrape(struct serving *serving)
{
	const int64_t now_ns = kwhy_clock_mono_ns();

	if (now_ns - serving->scraped_ns[0] < OFTEN_MS * INT64_C(1000000))
		kwhy_sensors_view(serving->job.sensors, now_ns + VIEW_MS * INT64_C(1000000));
	serving->scraped_ns[0] = serving->scraped_ns[1];
	serving->scraped_ns[1] = now_ns;
}

/* A snapshot that is at most FRESH_MS old; NULL: a snapshot could not be made. */
static const struct kwhy_live_snapshot *fresh_snapshot(struct serving *serving)
{
	struct kwhy_error error;

	note_scrape(serving);
	return kwhy_live_job_refresh(&serving->job, FRESH_MS, &error) ? NULL
								      : kwhy_live_snapshot(serving->job.live);
}

static void write_metrics(void *context, enum kwhy_exposition_form form, struct kwhy_text *out)
{
	struct serving *serving = context;
	const struct kwhy_live_snapshot *snapshot = fresh_snapshot(serving);
	struct kwhy_keeper_state owners;

	out->failed |= !snapshot;
	if (!snapshot)
		return;
	if (serving->keeper)
		owners = kwhy_keeper_state(serving->keeper);
	kwhy_metrics_write(snapshot, serving->keeper ? &owners : NULL, form, KWHY_VERSION, out);
}

static void write_page(void *context, struct kwhy_text *out)
{
	const struct kwhy_live_snapshot *snapshot = fresh_snapshot(context);

	out->failed |= !snapshot;
	if (snapshot)
		kwhy_page_write(snapshot, KWHY_VERSION, out);
}

static void send_figures(struct serving *serving)
{
	const struct kwhy_live_snapshot *snapshot = kwhy_live_snapshot(serving->job.live);
	struct kwhy_keeper_state owners;
	struct kwhy_otlp_figures figures = {.snapshot = snapshot,
		.started_unix_ns = llround(snapshot->started_unix_s * 1e9),
		.now_unix_ns = kwhy_clock_unix_ns(),
		.host = serving->host,
		.version = KWHY_VERSION};

	if (serving->keeper) {
		owners = kwhy_keeper_state(serving->keeper);
		figures.owners = &owners;
	}
	kwhy_otlp_send(serving->otlp, &figures, kwhy_clock_mono_ns());
}

/*
 * Sends figures to the OpenTelemetry collector if they are due. Returns wait_ms or, if that is shorter, the
 * time in ms until this function must be called again.
 */
static int carry_on_sending(struct serving *serving, int wait_ms)
{
	const char *message;
	int own_ms;

	if (!serving->otlp)
		return wait_ms;
	if (kwhy_otlp_is_due(serving->otlp, kwhy_clock_mono_ns()))
		send_figures(serving);
	own_ms = kwhy_otlp_tick(serving->otlp, kwhy_clock_mono_ns(), &message);
	if (message)
		kwhy_output_message(message);
	return own_ms < wait_ms ? own_ms : wait_ms;
}

static enum kwhy_status serve(struct serving *serving, struct kwhy_server *server, struct kwhy_error *error)
{
	struct pollfd waits[] = {{.fd = kwhy_server_fd(server), .events = POLLIN},
		{.fd = serving->job.signals, .events = POLLIN}};
	enum kwhy_status status = KWHY_OK;
	int most_ms;

	while (!status && !waits[1].revents) {
		status = tick(serving, error);
		most_ms = status ? 0 : carry_on_sending(serving, wait_ms(serving));
		if (poll(waits, 2, kwhy_server_wait_ms(server, most_ms)) < 0)
			/* poll() was interrupted by a signal and may have left old events */
			waits[1].revents = 0;
		kwhy_server_run(server);
	}
	return status;
}

static void announce(const struct serve_options *options, const struct kwhy_server *server,
	const struct kwhy_live_job *job)
{
	union kwhy_address address = kwhy_server_address(server);
	char text[KWHY_ADDRESS_BYTES], line[2 * KWHY_ADDRESS_BYTES];

	for (size_t i = 0; i < job->sensors->absence_count && !job->sensors->source_count; i++)
		kwhy_output_message(job->sensors->absences[i].text);
	snprintf(line, sizeof(line), "metrics at %s://%s/metrics", options->tls_cert ? "https" : "http",
		kwhy_address_write(&address, text));
	kwhy_output_message(line);
}

static enum kwhy_status open_and_serve(const struct serve_options *options,
	struct kwhy_server_request *request, struct serving *serving, struct kwhy_error *error)
{
	struct kwhy_server *server;
	enum kwhy_status status;

	request->listen = options->listen;
	request->any_host = options->allow_open;
	request->write_metrics = write_metrics;
	request->write_page = write_page;
	request->context = serving;
	status = kwhy_server_open(request, &server, error);
	if (status)
		return status;
	announce(options, server, &serving->job);
	status = serve(serving, server, error);
	kwhy_server_close(server);
	return status;
}

static enum kwhy_status check_owners(const struct serve_options *options, struct kwhy_error *error)
{
	if (options->owners_max < 1 || options->owners_max > KWHY_OWNERS_MAX_LIMIT)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--owners-max takes 1 to %d", (int)KWHY_OWNERS_MAX_LIMIT);
	if (options->live.replay && (options->accounts || options->mapping))
		return kwhy_fail(error, KWHY_E_USAGE,
			"a power file does not say who used the devices: leave out --power-file, or "
			"--accounts and --job-mapping");
	return KWHY_OK;
}

/*
 * Starts to keep accounts of who used the devices. The driver is asked for the processes on each device as
 * often as clocks and utilisation are read.
 */
static enum kwhy_status open_keeper(
	const struct serve_options *options, struct serving *serving, struct kwhy_error *error)
{
	struct kwhy_keeper_request request = {.sensors = serving->job.sensors,
		.live = serving->job.live,
		.path = options->accounts,
		.mapping = options->mapping,
		.root = options->root,
		.labels_max = (size_t)options->owners_max,
		.period_ns = (int64_t)(options->live.interval_ms * 1e6)};
	enum kwhy_status status;

	if (options->live.replay)
		return KWHY_OK;
	status = kwhy_kubelet_open(options->root, &serving->kubelet, error);
	if (status)
		return status;
	ask_kubelet(serving);
	request.allocations = kwhy_kubelet_allocations(serving->kubelet);
	return kwhy_keeper_new(&request, &serving->keeper, error);
}

static enum kwhy_status open_otlp(
	const struct serve_options *options, struct serving *serving, struct kwhy_error *error)
{
	if (!options->otlp)
		return KWHY_OK;
	if (gethostname(serving->host, sizeof(serving->host) - 1))
		*serving->host = '\0';
	return kwhy_otlp_open(options->otlp, &serving->otlp, error);
}

/* Stores the accounts with the energy used until now, and closes them. */
static enum kwhy_status close_keeper(
	struct serving *serving, enum kwhy_status status, struct kwhy_error *error)
{
	struct kwhy_error later;
	enum kwhy_status closed = KWHY_OK;

	if (!serving->keeper)
		return status;
	kwhy_sampler_flush(serving->job.sampler);
	closed = kwhy_live_job_tick(&serving->job, &later);
	if (closed)
		status = kwhy_output_later(status, &later, error);
	closed = kwhy_keeper_close(serving->keeper, &later);
	return closed ? kwhy_output_later(status, &later, error) : status;
}

static void confine(const void *context)
{
	const struct serve_options *options = context;
	char words[KWHY_CONFINE_BYTES];

	kwhy_confine(options->accounts, words);
	if (options->verbose)
		kwhy_output_message(words);
}

/*
 * Opens the meters. Unless the user gave --unconfined, the process then gives up the rights that serving does
 * not need (serve/confine.h), before it starts threads or opens connections.
 */
static enum kwhy_status open_job(
	const struct serve_options *options, struct kwhy_live_job *job, struct kwhy_error *error)
{
	struct kwhy_live_options live = options->live;

	if (!options->unconfined)
		live.before_threads = confine;
	live.context = options;
	return kwhy_live_job_open(job, &live, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct serve_options *options = invocation->options;
	struct kwhy_server_request request = {0};
	struct secrets secrets = {0};
	struct serving serving = {0};
	enum kwhy_status status;

	status = check_owners(options, error);
	if (!status)
		status = kwhy_address_read(options->listen, &request.address, error);
	if (!status)
		status = check_openness(options, &request.address, error);
	if (!status)
		status = read_secrets(options, &secrets, error);
	if (!status)
		status = open_job(options, &serving.job, error);
	if (!status) {
		serving.tick_ms = (int)fmin(fmax(options->live.interval_ms, TICK_MIN_MS), TICK_MAX_MS);
		request.token = secrets.token.data;
		request.cert_pem = secrets.cert.data;
		request.key_pem = secrets.key.data;
		status = open_keeper(options, &serving, error);
		if (!status)
			status = open_otlp(options, &serving, error);
		if (!status)
			status = open_and_serve(options, &request, &serving, error);
		kwhy_otlp_close(serving.otlp);
		status = close_keeper(&serving, status, error);
		kwhy_kubelet_close(serving.kubelet);
		kwhy_live_job_close(&serving.job);
	}
	secrets_done(&secrets);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"listen", 0, "ADDRESS", "where to serve; default 127.0.0.1:9835", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, listen)},
	{"token", 0, "FILE", "ask for the token in this file (Authorization: Bearer)", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, token)},
	{"tls-cert", 0, "FILE", "serve HTTPS with this certificate (PEM)", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, tls_cert)},
	{"tls-key", 0, "FILE", "the key of the certificate (PEM)", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, tls_key)},
	{"allow-open", 0, NULL, "let other machines read without a token", KWHY_OPTION_FLAG,
		offsetof(struct serve_options, allow_open)},
	{"accounts", 0, "FILE", "keep the energy of jobs, pods and users in this file", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, accounts)},
	{"job-mapping", 0, "DIR", "files that name the jobs of devices, as for DCGM's exporter",
		KWHY_OPTION_TEXT, offsetof(struct serve_options, mapping)},
	{"owners-max", 0, "N", "jobs, pods and users with labels of their own; default 200",
		KWHY_OPTION_COUNT, offsetof(struct serve_options, owners_max)},
	{"otlp", 0, "URL", "also send the figures to this collector of OpenTelemetry", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, otlp)},
	{"root", 0, "DIR", "the machine's / as a container sees it, for /proc and /var/log", KWHY_OPTION_TEXT,
		offsetof(struct serve_options, root)},
	{"unconfined", 0, NULL, "keep rights that serving does not need", KWHY_OPTION_FLAG,
		offsetof(struct serve_options, unconfined)},
	{"verbose", 'v', NULL, "say to what the process is confined", KWHY_OPTION_FLAG,
		offsetof(struct serve_options, verbose)},
	KWHY_OPTION_ROWS_LIVE(struct serve_options, live,
		"look at processes, clocks and utilisation so often; default 2000"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_serve = {
	.name = "serve",
	.operands = "",
	.summary = "Serve energy, power and use of this machine's GPUs as metrics for Prometheus.",
	.details = "Runs until it is interrupted. Dashboard and alert rules lie in share/kwhy/monitoring.",
	.options = options_table,
	.options_bytes = sizeof(struct serve_options),
	.defaults = set_defaults,
	.run = run,
};
