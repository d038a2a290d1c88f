-- tablespace_devices(): what it says depends on the machine, so this test
-- asserts what has to be true on every machine.  Exact values are asserted by
-- test/unit/test_sysfs.c on trees made for the purpose.
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_devices LOCATION '';
CREATE TABLESPACE "regress devices ""2""" LOCATION '';

SELECT tablespace, location LIKE '/%' AS absolute,
	   location LIKE current_setting('data_directory') || '/%' AS in_data_directory
FROM tablespace_devices()
WHERE tablespace IN ('pg_default', 'pg_global') OR tablespace LIKE 'regress%'
ORDER BY tablespace;

-- one row per tablespace
SELECT (SELECT count(*) FROM tablespace_devices())
	   = (SELECT count(*) FROM pg_tablespace) AS one_row_each;

-- the directory's mount is always found, and the rest follows from it
SELECT tablespace, filesystem, mount_point, device, device_stack, media
FROM tablespace_devices()
WHERE filesystem IS NULL OR mount_point IS NULL OR device IS NULL
   OR device_stack IS NULL OR media IS NULL
   OR media NOT IN ('rotational', 'solid state', 'memory', 'network', 'unknown');
SELECT tablespace, size_bytes, free_bytes, read_ahead_kb
FROM tablespace_devices()
WHERE free_bytes > size_bytes OR free_bytes < 0 OR size_bytes <= 0
   OR (size_bytes IS NULL) <> (free_bytes IS NULL) OR read_ahead_kb < 0;

-- memory is volatile, an unknown medium is not claimed to be anything
SELECT tablespace, media, volatile, redundant
FROM tablespace_devices()
WHERE (media = 'memory' AND volatile IS NOT TRUE)
   OR (volatile AND NOT translate(array_to_string(warnings, ' '), E'\n', ' ') LIKE '%volatile storage%')
   OR (media = 'unknown' AND NOT translate(array_to_string(warnings, ' '), E'\n', ' ') LIKE '%is not visible%');

-- what only a RAID has, and what every RAID has
SELECT tablespace, raid_level, members, write_penalty, degraded
FROM tablespace_devices()
WHERE (raid_level IS NULL) <> (members IS NULL)
   OR (raid_level IS NULL) <> (write_penalty IS NULL)
   OR (raid_level IS NULL AND degraded IS NOT NULL);

-- sharing is symmetric, not with itself, and all of these are in one directory
SELECT a.tablespace
FROM tablespace_devices() a, unnest(a.shares_device_with) AS s(with_tablespace)
WHERE s.with_tablespace = a.tablespace
   OR NOT EXISTS (SELECT FROM tablespace_devices() b
				  WHERE b.tablespace = s.with_tablespace
					AND a.tablespace = ANY (b.shares_device_with));
SELECT 'regress devices "2"' = ANY (shares_device_with) AS shared
FROM tablespace_devices() WHERE tablespace = 'regress_devices';
SELECT warning ~ 'pg_default.*"regress devices ""2"""' AS names_them,
	   warning ~ ': moves between them gain nothing$' AS says_why
FROM tablespace_devices(), unnest(warnings) AS folded, translate(folded, E'\n', ' ') AS warning
WHERE tablespace = 'regress_devices' AND warning LIKE 'same device as tablespace %';

-- nobody is warned of NULL
SELECT tablespace FROM tablespace_devices()
WHERE warnings IS NULL OR array_position(warnings, NULL) IS NOT NULL
   OR shares_device_with IS NULL;

-- an OID that is no tablespace's is no error, nor is a tablespace whose
-- directory has gone meanwhile
SELECT location ~ '/pg_tblspc/4294967295$' AS location, filesystem, device,
	   media, size_bytes, warnings, leaves
FROM tablespace_advisor.tablespace_device(4294967295);
SELECT tablespace_advisor.tablespace_device(NULL) IS NULL AS strict;

-- reads the file system: not for everyone
CREATE ROLE regress_devices_nobody;
CREATE ROLE regress_devices_monitor IN ROLE pg_monitor;
SET ROLE regress_devices_nobody;
SELECT count(*) FROM tablespace_devices();
SELECT count(*) FROM tablespace_advisor.tablespace_device(1663);
SET ROLE regress_devices_monitor;
SELECT count(*) > 3 AS allowed FROM tablespace_devices();
RESET ROLE;

DROP ROLE regress_devices_nobody, regress_devices_monitor;
DROP TABLESPACE regress_devices;
DROP TABLESPACE "regress devices ""2""";
