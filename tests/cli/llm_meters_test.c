/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy llm --meters`, which reads the energy of the language-model server's GPUs from a `kwhy serve`
 * on its host. Here a real `kwhy serve` meters fake GPUs that draw known powers.
 */
#include "llm_server.h"
#include "spawned_checks.h"
#include "text_file.h"

#include "base/file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOAD "-c", "2", "--seconds", "3", "--ramp", "0.5", "--idle", "2", "-q"

static const char token[] = "0123456789abcdef0123456789abcdef";

/*
 * Folder with the files of all tests. `scenario` describes two GPUs that draw a constant 300 W and 200 W.
 */
static char folder[] = "/tmp/kwhy-llm-meters-XXXXXX";
static char scenario[64], token_path[64], cert_path[64], key_path[64];

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(scenario, sizeof(scenario), "%s/gpus", folder);
	snprintf(token_path, sizeof(token_path), "%s/token", folder);
	snprintf(cert_path, sizeof(cert_path), "%s/cert.pem", folder);
	snprintf(key_path, sizeof(key_path), "%s/key.pem", folder);
	text_file_write(scenario,
		"gpu \"NVIDIA H200\"\npower constant 300\ngpu \"NVIDIA H200\"\npower constant 200\n");
	text_file_write(token_path, token);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(scenario);
	unlink(token_path);
	unlink(cert_path);
	unlink(key_path);
	return rmdir(folder);
}

struct meters {
	pid_t pid;
	char url[128];
};

/*
 * Starts `kwhy serve` on the fake GPUs that the scenario file `gpus` describes. `more`: further options,
 * ended by NULL; NULL: none.
 */
static struct meters start_meters(const char *gpus, const char *const *more)
{
	const char *words[16] = {"kwhy", "serve", "--listen", "127.0.0.1:0"};
	struct meters meters = {0};
	char line[256] = "";
	FILE *said;
	int err[2];

	for (size_t i = 0; more && more[i]; i++)
		words[4 + i] = more[i];
	assert_int_equal(pipe(err), 0);
	meters.pid = fork();
	if (meters.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails, this ends the server; otherwise ctest
						     would wait for it */
		setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
		setenv("KWHY_FAKE_NVML", gpus, 1);
		dup2(err[1], STDERR_FILENO);
		close(err[0]);
		close(err[1]);
		execv(KWHY_PROGRAM, (char *const *)words);
		_exit(127);
	}
	close(err[1]);
	said = fdopen(err[0], "r");
	while (fgets(line, sizeof(line), said) && sscanf(line, "kwhy: metrics at %127s", meters.url) != 1)
		;
	fclose(said);
	if (!*meters.url)
		fail_msg("kwhy serve says '%s'", line);
	return meters;
}

static void stop_meters(const struct meters *meters)
{
	kill(meters->pid, SIGKILL);
	waitpid(meters->pid, NULL, 0);
}

static const json_t *energy_of(const json_t *root)
{
	return json_object_get(json_array_get(json_object_get(root, "loads"), 0), "energy");
}

static void assert_inside(const json_t *root, const char *key, double truth)
{
	const json_t *part = json_object_get(energy_of(root), key);
	double low = json_number_value(json_object_get(part, "low")),
	       high = json_number_value(json_object_get(part, "high")),
	       value = json_number_value(json_object_get(part, "value"));

	if (!(low <= truth && truth <= high && low < high && low <= value && value <= high))
		fail_msg("%s: %g is not in %g (%g to %g)", key, truth, value, low, high);
}

static void joules_of_another_host_lie_in_their_intervals(void **state)
{
	struct llm_server server = llm_server_start("well", NULL);
	struct meters meters = start_meters(scenario, NULL);
	json_t *root = json_of(SPAWN("llm", "--url", server.url, "--meters", meters.url, LOAD, "--json"));
	double idle_w = json_number_value(json_object_get(root, "idle_w"));

	(void)state;
	assert_true(json_is_null(json_object_get(energy_of(root), "missing")));
	assert_string_equal(json_string_value(json_object_get(energy_of(root), "basis")), "remote");
	assert_string_equal(json_string_value(json_object_get(root, "meters")), meters.url);
	assert_true(idle_w > 250 && idle_w < 750);
	assert_inside(root, "gross_j", 1000);
	assert_inside(root, "above_idle_j", 0);
	json_decref(root);
	root = json_of(
		SPAWN("llm", "--url", server.url, "--meters", meters.url, "--device", "1", LOAD, "--json"));
	assert_inside(root, "gross_j", 400);
	json_decref(root);
	stop_meters(&meters);
	llm_server_stop(&server);
}

/*
 * Checks that in each line of the CSV file of --windows the parts (prefill, decode, idle) add up to the
 * energy of that time window. Returns the sum of the energies of the windows of load `load`, in J.
 */
static double check_windows(const char *path, int load)
{
	struct kwhy_text text = {0};
	struct kwhy_error error;
	double sum = 0;
	int lines = 0;

	assert_int_equal(kwhy_file_read(path, 1 << 20, &text, &error), KWHY_OK);
	assert_ptr_equal(
		strstr(text.data, "load,unix_s,seconds,metered_j,idle_j,prefill_j,decode_j,"), text.data);
	for (const char *line = strchr(text.data, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		double unix_s, seconds, metered, idle, prefill, decode;
		int of;

		assert_int_equal(sscanf(line + 1, "%d,%lf,%lf,%lf,%lf,%lf,%lf,", &of, &unix_s, &seconds,
					 &metered, &idle, &prefill, &decode),
			7);
		assert_true(seconds > 0.5 && seconds < 1.5 && fabs((double)time(NULL) - unix_s) < 60);
		assert_true(fabs(idle + prefill + decode - metered) < 1e-5);
		assert_true((prefill + decode > 0) <= (of > 0));
		sum += of == load ? metered : 0;
		lines++;
	}
	assert_true(lines >= 13);
	kwhy_text_done(&text);
	return sum;
}

/*
 * The energies attributed to requests and to the idle server must add up to the energy that the
 * meters of the `kwhy serve` counted. (It would run on another host; here it runs on the same one.)
 */
static void joules_of_requests_add_up_to_another_hosts_meters(void **state)
{
	struct llm_server server = llm_server_start("well", NULL);
	struct meters meters = start_meters(scenario, NULL);
	json_t *root = json_of(
		SPAWN("llm", "--url", server.url, "--meters", meters.url, "-c", "2", "--seconds", "9",
			"--ramp", "1", "--idle", "5", "-q", "--json", "--windows", "llm-windows.csv"));
	const json_t *load = json_array_get(json_object_get(root, "loads"), 0),
		     *parts = json_object_get(load, "requests_nj");
	json_int_t metered = json_integer_value(json_object_get(parts, "metered"));

	(void)state;
	if (!json_is_null(json_object_get(json_object_get(root, "requests_energy"), "missing")))
		fail_msg("%s",
			json_string_value(
				json_object_get(json_object_get(root, "requests_energy"), "missing")));
	assert_true(metered > 8 * 400 * 1000000000LL && metered < 11 * 600 * 1000000000LL);
	assert_true(metered ==
		json_integer_value(json_object_get(parts, "prefill")) +
			json_integer_value(json_object_get(parts, "decode")) +
			json_integer_value(json_object_get(parts, "idle")));
	assert_true(fabs(check_windows("llm-windows.csv", 1) - (double)metered * 1e-9) < 1e-4);
	json_decref(root);
	stop_meters(&meters);
	llm_server_stop(&server);
}

static bool made_certificate(void)
{
	char line[512];

	snprintf(line, sizeof(line),
		"openssl req -x509 -newkey rsa:2048 -nodes -keyout %s -out %s -days 2 -subj /CN=localhost "
		"-addext subjectAltName=IP:127.0.0.1 >/dev/null 2>&1",
		key_path, cert_path);
	return system(line) == 0;
}

static void a_token_and_a_certificate_of_ones_own_are_taken(void **state)
{
	const char *const options[] = {
		"--token", token_path, "--tls-cert", cert_path, "--tls-key", key_path, NULL};
	struct llm_server server;
	struct meters meters;

	(void)state;
	if (!made_certificate())
		kwhy_skip("openssl makes no certificate here");
	server = llm_server_start("well", NULL);
	meters = start_meters(scenario, options);
	assert_int_equal(strncmp(meters.url, "https://", 8), 0);
	json_decref(json_of(SPAWN("llm", "--url", server.url, "--meters", meters.url, "--meters-ca",
		cert_path, "--meters-token", token_path, LOAD, "--json")));
	assert_fails(
		SPAWN("llm", "--url", server.url, "--meters", meters.url, "--meters-token", token_path, LOAD),
		1, "does not answer");
	stop_meters(&meters);
	llm_server_stop(&server);
}

static void a_token_that_is_wanted_comes_from_the_environment_or_is_asked_for(void **state)
{
	const char *const options[] = {"--token", token_path, NULL};
	struct llm_server server = llm_server_start("well", NULL);
	struct meters meters = start_meters(scenario, options);
	const char *const words[] = {
		"llm", "--url", server.url, "--meters", meters.url, LOAD, "--json", NULL};
	struct spawned spawned = spawn_run(&(struct spawn){.words = words});
	char right[64];
	json_t *root;

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "wants a token (HTTP status 401)"));
	assert_non_null(strstr(spawned.err.data, "--meters-token"));
	spawned_done(&spawned);
	snprintf(right, sizeof(right), "KWHY_METERS_TOKEN=%s", token);
	root = json_of(spawn_run(&(struct spawn){.words = words, .environment = right}));
	assert_inside(root, "gross_j", 1000);
	json_decref(root);
	stop_meters(&meters);
	llm_server_stop(&server);
}

static void assert_refused(const char *url, const char *meters, const char *device, const char *says)
{
	struct spawned spawned = device
		? SPAWN("llm", "--url", url, "--meters", meters, LOAD, "--device", device)
		: SPAWN("llm", "--url", url, "--meters", meters, LOAD);

	if ((spawned.exit != 1 && spawned.exit != 2) || !strstr(spawned.err.data, says))
		fail_msg("exit %d, '%s' instead of '%s'", spawned.exit, spawned.err.data, says);
	spawned_done(&spawned);
}

static void meters_that_are_none_are_refused_before_any_load(void **state)
{
	struct llm_server server = llm_server_start("well", NULL);
	struct meters meters = start_meters(scenario, NULL);

	(void)state;
	assert_refused(server.url, "http://127.0.0.1:1", NULL, "does not answer");
	assert_refused(server.url, server.url, NULL, "no metrics of kwhy");
	assert_refused(server.url, "gpu-host", NULL, "is not the address of a kwhy serve");
	assert_refused(server.url, meters.url, "0,7", "--device 7");
	stop_meters(&meters);
	text_file_write(scenario, "gpu \"NVIDIA H200\"\nfail * not_supported\n");
	meters = start_meters(scenario, NULL);
	assert_refused(server.url, meters.url, NULL, "no energy of a GPU");
	stop_meters(&meters);
	text_file_write(scenario,
		"gpu \"NVIDIA H200\"\npower constant 300\ngpu \"NVIDIA H200\"\npower constant 200\n");
	llm_server_stop(&server);
}

static void meters_that_end_under_way_leave_the_other_figures_alone(void **state)
{
	struct meters meters = start_meters(scenario, NULL);
	struct llm_server server;
	char pid[24];
	json_t *root;

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)meters.pid);
	setenv("FAKE_LLM_ENDS", pid, 1);
	server = llm_server_start("ends_another", NULL);
	unsetenv("FAKE_LLM_ENDS");
	root = json_of(SPAWN("llm", "--url", server.url, "--meters", meters.url, LOAD, "--json"));
	assert_non_null(
		strstr(json_string_value(json_object_get(energy_of(root), "missing")), "does not answer"));
	assert_true(json_is_null(json_object_get(json_object_get(energy_of(root), "gross_j"), "value")));
	assert_true(json_number_value(json_object_get(root, "idle_w")) > 0);
	assert_true(json_number_value(json_object_get(
			    json_array_get(json_object_get(root, "loads"), 0), "tokens")) > 0);
	json_decref(root);
	stop_meters(&meters);
	llm_server_stop(&server);
}

static void options_that_do_not_go_together_are_refused_by_name(void **state)
{
	static const struct {
		const char *words[8], *says;
	} cases[] = {
		{{"llm", "--url", "http://x", "--meters-token", "x"}, "go with --meters"},
		{{"llm", "--url", "http://x", "--meters-ca", "x"}, "go with --meters"},
		{{"llm", "--url", "http://x", "--meters", "http://x", "--no-energy"}, "--no-energy"},
		{{"llm", "--url", "http://x", "--meters", "http://x", "--power-file", "x"}, "--power-file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_fails(spawn_run(&(struct spawn){.words = cases[i].words}), 2, cases[i].says);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joules_of_another_host_lie_in_their_intervals),
		cmocka_unit_test(joules_of_requests_add_up_to_another_hosts_meters),
		cmocka_unit_test(a_token_and_a_certificate_of_ones_own_are_taken),
		cmocka_unit_test(a_token_that_is_wanted_comes_from_the_environment_or_is_asked_for),
		cmocka_unit_test(meters_that_are_none_are_refused_before_any_load),
		cmocka_unit_test(meters_that_end_under_way_leave_the_other_figures_alone),
		cmocka_unit_test(options_that_do_not_go_together_are_refused_by_name),
	};

	return kwhy_test_main(tests, set_up, tear_down);
}
