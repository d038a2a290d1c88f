/*-------------------------------------------------------------------------
 *
 * relations.h
 *	  The relations of this database in a tablespace, and the settings of its
 *	  objects, one row of text each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RELATIONS_H
#define TSA_RELATIONS_H

#include "postgres.h"

/* Columns of tablespace_advisor.relations_in(). */
#define TSA_RELATION_COLUMNS 18

/* Columns of tablespace_advisor.object_settings(). */
#define TSA_SETTING_COLUMNS 4

/* Takes a row; NULL is a null value. */
typedef void (*TsaRowReceiver) (char **values, void *arg);

extern void tsa_find_relations(Oid tablespace, TsaRowReceiver receive,
							   void *arg);
extern void tsa_find_settings(TsaRowReceiver receive, void *arg);

#endif							/* TSA_RELATIONS_H */
