/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_LIBRARY_H
#define KWHY_LAB_DECODE_LIBRARY_H

#include "lab/decode/inside.h"

/*
 * A layer's products by cuBLASLt, of weights that lie row by row: a copy of ours, as activations are, with
 * scales in them. Of 16 bits, queries, keys and values come together, token by token, into args.inner, where
 * attention takes them; what is added to x is added by the product. Of the vocabulary's product come logits.
 */

/*
 * Opens it as the request says and finds the fastest of the library's ways for every product by trying them.
 * Own kernels make all products where the request says so, and where it leaves the choice and the library is
 * missing or refuses; else KWHY_E_UNSUPPORTED. The weights are there; nothing else is kept in memory.
 */
KWHY_MUST_USE enum kwhy_status kwhy_decode_library_open(struct kwhy_decode *decode, struct kwhy_error *error);
void kwhy_decode_library_close(struct kwhy_decode *decode);

/* Whether products of so many tokens are the library's; of prompts, or of single tokens and the vocabulary.
 */
bool kwhy_decode_library_takes(const struct kwhy_decode *decode, uint32_t tokens, bool is_reading);

/* Whether the library makes queries, keys and values, too. */
bool kwhy_decode_library_joins(const struct kwhy_decode *decode);

/* Of args.tokens tokens; KWHY_DECODE_WORDS: into args.logits, of args.slots. */
void kwhy_decode_issue_library(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix);

#endif
