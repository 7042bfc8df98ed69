/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/demangle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_plain(const char *mangled, const char *expected)
{
	char *plain = kwhy_demangle(mangled, strlen(mangled));

	assert_non_null(plain);
	assert_string_equal(plain, expected);
	free(plain);
}

static void names_come_as_the_program_writes_them(void **state)
{
	(void)state;
	assert_plain("_Z3oddPf", "odd(float*)");
	assert_plain("_ZN4fill3run17h0123456789abcdefE", "fill::run");
	assert_plain("_ZN4fill3run17h0123456789abcdegE", "fill::run::h0123456789abcdeg");
	assert_plain("_ZN2at6native4fillIfEEviPT_", "void at::native::fill<float>(int, float*)");
}

static void other_names_stay_as_they_are(void **state)
{
	(void)state;
	assert_null(kwhy_demangle("sm90_xmma_gemm_f16f16", 21));
	assert_null(kwhy_demangle("_Z", 2));
	assert_null(kwhy_demangle("_Z999x", 6));
	assert_null(kwhy_demangle("", 0));
}

/*
 * Makes a mangled name of nested templates, each A<T, T> with the previous one as T. A level adds ten bytes
 * to the mangled name and doubles the length of the demangled one.
 */
static void make_doubling(char *out, size_t bytes, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = (size_t)snprintf(out, bytes, "_Z1f1AIiiE");

	for (int i = 0; i < levels; i++)
		length += (size_t)snprintf(
			out + length, bytes - length, "S_IS%c_S%c_E", digits[i], digits[i]);
}

static void a_name_that_grows_without_bound_stays_mangled(void **state)
{
	char name[500];
	char *plain;

	(void)state;
	make_doubling(name, sizeof(name), 8);
	plain = kwhy_demangle(name, strlen(name));
	assert_non_null(plain);
	assert_true(strlen(plain) > 3000);
	free(plain);
	make_doubling(name, sizeof(name), 20); /* demangled about 20 MB */
	assert_null(kwhy_demangle(name, strlen(name)));
	make_doubling(name, sizeof(name), 36); /* demangled larger than any memory */
	assert_null(kwhy_demangle(name, strlen(name)));
}

static void a_name_that_is_nested_without_bound_stays_mangled(void **state)
{
	enum { BYTES = 1 << 20 };
	char *name = malloc(BYTES);

	(void)state;
	assert_non_null(name);
	memset(name, 'P', BYTES);
	memcpy(name, "_Z1f", 4);
	name[BYTES - 1] = 'i';
	assert_null(kwhy_demangle(name, BYTES));
	free(name);
}

/*
 * Makes a mangled name of `bytes` bytes: `start`, then `unit` as often as possible, then `end`; the rest is
 * zero. The caller frees it.
 */
static char *make_long(const char *start, const char *unit, const char *end, size_t bytes)
{
	char *name = calloc(bytes + 1, 1);
	size_t length = strlen(start);

	assert_non_null(name);
	memcpy(name, start, length);
	for (; length + strlen(unit) + strlen(end) <= bytes; length += strlen(unit))
		memcpy(name + length, unit, strlen(unit));
	memcpy(name + length, end, strlen(end));
	return name;
}

static void long_names_come_as_the_program_writes_them(void **state)
{
	static const size_t lengths[] = {1000, 1024, 1025, 2000, 4000, 16384};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *name = make_long("_ZN", "20abcdefghij0123456789", "3oddE", lengths[i]);
		char *plain = kwhy_demangle(name, strlen(name));

		assert_non_null(plain);
		assert_int_equal(strlen(plain), (lengths[i] - 8) / 22 * 22 + strlen("odd"));
		assert_string_equal(plain + strlen(plain) - 10, "56789::odd");
		free(plain);
		free(name);
	}
}

static void a_name_longer_than_any_compiler_makes_stays_mangled(void **state)
{
	char *name = make_long("_Z3odd", "c", "", 16385);

	(void)state;
	assert_null(kwhy_demangle(name, 16385));
	free(name);
}

/*
 * Demangles the names for which libiberty needs most stack: the most deeply nested ones, and those with most
 * templates and back references. Runs on a thread with a small stack.
 */
static void *demangle_the_worst(void *unused)
{
	static const char *const worst[][3] = {
		{"_Z1f", "P", "i"},
		{"_Z1f", "F", "i"},
		{"_Z", "Z", "1f"},
		{"_Z", "ZUlF", "i"},
		{"_Z1fIiEv", "1AIRT_E", ""},
		{"_Z1fIiEv", "1AIRT_S0_OT_E", ""},
	};

	for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++)
		for (size_t bytes = 256; bytes <= 16384; bytes *= 2) {
			char *name = make_long(worst[i][0], worst[i][1], worst[i][2], bytes);

			free(kwhy_demangle(name, bytes));
			free(name);
		}
	return unused;
}

static void names_fit_the_stack_of_a_small_thread(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
	assert_int_equal(pthread_create(&thread, &attributes, demangle_the_worst, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
}

static void only_the_bytes_given_are_read(void **state)
{
	char *plain = kwhy_demangle("_Z3oddPfgarbage", 8);

	(void)state;
	assert_non_null(plain);
	assert_string_equal(plain, "odd(float*)");
	free(plain);
}

/*
 * A mangled name that occurs again is not demangled again: the id that `seen` holds for it is returned. The
 * test changes that id to that of "other" to show it.
 */
static void a_mangled_text_is_demangled_once(void **state)
{
	struct kwhy_error error;
	struct kwhy_names names;
	struct kwhy_map seen = {0};
	uint32_t odd, again, other;

	(void)state;
	assert_int_equal(kwhy_names_init(&names, &error), KWHY_OK);
	assert_int_equal(kwhy_names_intern(&names, "other", 5, &other, &error), KWHY_OK);
	assert_int_equal(kwhy_demangle_intern(&names, &seen, "_Z3oddPf", 8, &odd, &error), KWHY_OK);
	assert_string_equal(kwhy_names_get(&names, odd), "odd(float*)");
	assert_int_equal(kwhy_demangle_intern(&names, &seen, "plain", 5, &again, &error), KWHY_OK);
	assert_int_equal(seen.count, 1);
	kwhy_map_find_bytes(&seen, "_Z3oddPf", 8)->value = other;
	assert_int_equal(kwhy_demangle_intern(&names, &seen, "_Z3oddPf", 8, &again, &error), KWHY_OK);
	assert_int_equal(again, other);
	assert_int_equal(kwhy_demangle_intern(&names, NULL, "_Z3oddPf", 8, &again, &error), KWHY_OK);
	assert_int_equal(again, odd);
	kwhy_map_done(&seen);
	kwhy_names_done(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_as_the_program_writes_them),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(a_name_that_grows_without_bound_stays_mangled),
		cmocka_unit_test(a_name_that_is_nested_without_bound_stays_mangled),
		cmocka_unit_test(long_names_come_as_the_program_writes_them),
		cmocka_unit_test(a_name_longer_than_any_compiler_makes_stays_mangled),
		cmocka_unit_test(names_fit_the_stack_of_a_small_thread),
		cmocka_unit_test(only_the_bytes_given_are_read),
		cmocka_unit_test(a_mangled_text_is_demangled_once),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
