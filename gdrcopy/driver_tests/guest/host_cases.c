// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Before all other cases, the words that the host put into the BAR are read; after all others, words are
 * written for the host to read when the guest is off. Each word contains its own offset.
 */
#include "check.h"
#include "gpu.h"

#define BEFORE 0x5eed000000000000ull
#define AFTER 0xc0de000000000000ull
#define PIECE (64 * GPU_PAGE)

static void each_word(uint64_t flags, bool write)
{
	struct pinned one = mapped(PIECE, flags);
	size_t wrong = 0, i;
	uint64_t page = 0;

	for (i = 0; i < PIECE / 8; i++) {
		size_t inside = i * 8 % GPU_PAGE;

		if (!inside) {
			page = gpu_where(one.gpu, one.address + i * 8).offset;
			if (write)
				printf("HOST %llu %lu\n", (unsigned long long)page, GPU_PAGE);
		}
		if (write)
			one.words[i] = AFTER | (page + inside);
		else
			wrong += one.words[i] != (BEFORE | (page + inside));
	}
	EXPECT_EQ(wrong, 0);
}

CASE(bytes_of_the_host, FIRST)
{
	each_word(0, false);
	each_word(FAKEGPU_SCATTERED, false);
}

/* The first ones stay allocated meanwhile, so that the others are elsewhere. */
CASE(bytes_for_the_host, LAST)
{
	each_word(0, true);
	each_word(FAKEGPU_SCATTERED, true);
}
