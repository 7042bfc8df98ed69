/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/gpu_generation.h"

static const struct kwhy_gpu_generation *named(const char *name, uint32_t compute_major)
{
	struct kwhy_device device = {.name = name, .compute_major = compute_major};

	return kwhy_gpu_generation_of(&device);
}

/*
 * PCI Express 3, 4 and 5 transfer 8, 16 and 32 GT/s per lane, of which 128 of 130 bits are data. Expected:
 * GB/s of 16 lanes in one direction.
 */
static void a_gpu_is_linked_as_its_generation_is(void **state)
{
	static const struct {
		const char *name;
		uint32_t compute_major;
		double gb_per_s;
	} cases[] = {
		{"Tesla T4", 0, 15.75},
		{"Tesla V100-SXM2-32GB", 7, 15.75},
		{"NVIDIA GeForce GTX 1060 6GB", 0, 15.75},
		{"NVIDIA A100-SXM4-80GB", 0, 31.51},
		{"NVIDIA A10G", 0, 31.51},
		{"NVIDIA H100 80GB HBM3", 0, 63.02},
		{"NVIDIA H200", 9, 63.02},
		{"NVIDIA GH200 480GB", 9, 450},
		{"AMD Instinct MI300X", 9, 63.02},
		{"AMD Instinct MI250X", 9, 31.51},
		{"of a later year", 0, 63.02},
		{NULL, 0, 63.02},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_float_equal(named(cases[i].name, cases[i].compute_major)->link_bytes_per_s * 1e-9,
			cases[i].gb_per_s, 0.01);
}

static void tensor_cores_are_those_of_the_compute_capability_else_of_the_name(void **state)
{
	static const struct {
		const char *name;
		uint32_t compute_major;
		enum kwhy_tensor_cores cores;
	} cases[] = {
		{NULL, 0, KWHY_TENSOR_UNKNOWN},
		{NULL, 6, KWHY_TENSOR_NONE},
		{NULL, 7, KWHY_TENSOR_FP16},
		{NULL, 8, KWHY_TENSOR_TF32},
		{NULL, 12, KWHY_TENSOR_TF32},
		{"NVIDIA GeForce GTX 1660 Ti", 7, KWHY_TENSOR_NONE},
		{"NVIDIA GeForce RTX 2080 Ti", 0, KWHY_TENSOR_FP16},
		{"Tesla P100-PCIE-16GB", 0, KWHY_TENSOR_NONE},
		{"NVIDIA T400", 0, KWHY_TENSOR_UNKNOWN},
		/*
		 * compute_major of AMD's GPUs does not tell which precisions their matrix cores have,
		 * whatever the name
		 */
		{"AMD Custom", 7, KWHY_TENSOR_UNKNOWN},
		{"Radeon VII", 9, KWHY_TENSOR_UNKNOWN},
		{"Instinct MI25", 6, KWHY_TENSOR_UNKNOWN},
		{"Instinct MI399", 7, KWHY_TENSOR_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(named(cases[i].name, cases[i].compute_major)->tensor_cores, cases[i].cores);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_is_linked_as_its_generation_is),
		cmocka_unit_test(tensor_cores_are_those_of_the_compute_capability_else_of_the_name),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
