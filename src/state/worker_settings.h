/*-------------------------------------------------------------------------
 *
 * worker_settings.h
 *	  Settings of the extension's background workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORKER_SETTINGS_H
#define TSA_WORKER_SETTINGS_H

extern void tsa_connect_worker(Oid database, uint32 flags,
							   const char *lock_timeout);
extern void tsa_override_settings(const char *lock_timeout,
								  const char *synchronous_commit,
								  const char *read_only);

#endif							/* TSA_WORKER_SETTINGS_H */
