/*-------------------------------------------------------------------------
 *
 * words.h
 *	  The verdict on a relation as a sentence.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORDS_H
#define TSA_WORDS_H

#include "advise/placement.h"

extern char *tsa_regclass_text(uint32_t relation);
extern char *tsa_verdict_reason(const TsaPlacement *p, int relation,
								const TsaMoveEstimate *e);

#endif							/* TSA_WORDS_H */
