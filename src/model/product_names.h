/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PRODUCT_NAMES_H
#define KWHY_MODEL_PRODUCT_NAMES_H

/* The units on which a matrix product runs, by the name of its kernel. */
enum kwhy_product {
	KWHY_PRODUCT_UNKNOWN, /* no matrix product, or the name does not show the units */
	KWHY_PRODUCT_FP32,
	KWHY_PRODUCT_TENSOR
};

enum kwhy_product kwhy_product_of(const char *kernel_name);

#endif
