/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/demangle.h"

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
	char *long_name = malloc(40000);

	(void)state;
	assert_null(kwhy_demangle("sm90_xmma_gemm_f16f16", 21));
	assert_null(kwhy_demangle("_Z", 2));
	assert_null(kwhy_demangle("_Z999x", 6));
	assert_null(kwhy_demangle("", 0));
	memset(long_name, 'x', 40000);
	memcpy(long_name, "_Z", 2);
	assert_null(kwhy_demangle(long_name, 40000));
	free(long_name);
}

static void only_the_bytes_given_are_read(void **state)
{
	char *plain = kwhy_demangle("_Z3oddPfgarbage", 8);

	(void)state;
	assert_non_null(plain);
	assert_string_equal(plain, "odd(float*)");
	free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_as_the_program_writes_them),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(only_the_bytes_given_are_read),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
