# Copyright (c) 2026, The tablespace_advisor developers

# Shared by the benches: their options, a private server with the extension, and
# one that has little memory, a slow disk and a fast one.  Sourced by bash scripts
# that have said "set -euo pipefail"; takes them to the top of the checkout.
here=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit
. tools/common.sh

# take_options 'NAME...' ARGUMENT...: --NAME VALUE sets the variable NAME, a hyphen
# in it being an underscore there.  After a name, "#": a positive number, "0": a
# number, "!": no value, it becomes "yes".  "-n" stands for "--rounds".  What is no
# option is left in $left.
take_options()
{
	local known=" $1 " name

	left=()
	shift
	while [ $# -gt 0 ]; do
		[ "$1" != -n ] || set -- --rounds "${@:2}"
		name=${1#--}
		case $1 in
			-?*) [[ $known =~ " $name"([#0!]?)" " ]] || usage "$1" ;;
			*) left+=("$1"); shift; continue ;;
		esac
		if [ "${BASH_REMATCH[1]}" = '!' ]; then
			declare -g "${name//-/_}=yes"
			shift
			continue
		fi
		case ${BASH_REMATCH[1]} in
			'#') [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1 needs a positive number" ;;
			0) [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 needs a number" ;;
			*) [ -n "${2:-}" ] || die "$1 needs a value" ;;
		esac
		declare -g "${name//-/_}=$2"
		shift 2
	done
}

sql() { in_src psql -XAtq -F ' ' -v ON_ERROR_STOP=1 -d postgres "$@"; }

# private_server [PACKAGE...]: with the extension installed and the configuration
# on standard input; Debian packages that the bench needs besides.
private_server()
{
	install_private_server "$@"
	cat >"$work/conf"
	start_cluster "$work/conf"
}

# as_many_pins [io_method]: from 18 on a session reads block by block, each by a round
# trip to an I/O worker, if its share of shared buffers is a block or two.  So give the
# private server as many per session as one with default settings has, and the means to
# evict them: pg_buffercache_evict_all().  And perhaps another io_method.
as_many_pins()
{
	[ "$(sql -c 'SHOW server_version_num')" -ge 180000 ] || return 0
	sql -c "ALTER SYSTEM SET shared_buffers = '64MB'" \
		-c 'ALTER SYSTEM SET max_connections = 10' \
		-c 'CREATE EXTENSION pg_buffercache'
	[ -z "${1-}" ] || sql -c "ALTER SYSTEM SET io_method = $1"
	in_src "$pg_bin/pg_ctl" -D "$work/data" -l "$work/server.log" -s -w restart
}

# --- little memory, two disks ---------------------------------------------------

# Makes a control group: sets $group, and $limit, the file that limits its memory;
# or fails and says why.
make_memory_group()
{
	local parent='' file

	if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
		parent=/sys/fs/cgroup/memory file=memory.limit_in_bytes
	elif grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
		parent=/sys/fs/cgroup file=memory.max
	fi
	group=${parent:+$parent/tablespace_advisor.$$}
	if [ -z "$group" ] || ! mkdir "$group" 2>/dev/null; then
		group=
		why="no control group to limit the server's memory with"
		return 1
	fi
	limit=$group/$file
}

# set_memory_limit MB DIRECTORY...: of the group, page cache included.  The kernel
# has to write what is dirty in these file systems before it can let go of it.
set_memory_limit()
{
	local megabytes=$1 tries

	shift
	for tries in 1 2 3 4 5 6 7 8 9 10; do
		sync -f "$@"
		if echo "$((megabytes * 1024 * 1024))" >"$limit"; then
			return 0
		fi 2>/dev/null
		sleep 1
	done
	die "could not limit the server's memory to $megabytes MB"
}

# Both in a memory group, or ends with status 77: the emulated disk under which the
# bench runs, and a fast one, to be made by fast_disk.  $fast is empty until then.
need_two_disks()
{
	fast=''
	make_memory_group || { echo "skipped: $why" >&2; exit 77; }
}

# fast_disk SIZE [PARAMETER=VALUE...]: as bench/testbed/up has them; sets $fast
fast_disk()
{
	[ $# -gt 1 ] || set -- "$1" rotation_us=200 travel_us=100 mb_per_s=500
	fast=$(bench/testbed/up "$work.fast" "$@")
}

# Starts the server in the group, configured by standard input, with the tablespaces
# "slow" and "fast" on the disks.  With "quiet" first, nothing reads or writes by itself.
start_on_two_disks()
{
	cat >"$work/conf"
	[ "${1:-}" != quiet ] || cat >>"$work/conf" <<-END
		max_wal_size = 50GB
		checkpoint_timeout = 1d
		autovacuum = off
		synchronous_commit = off
		track_io_timing = on
		max_parallel_workers_per_gather = 0
	END
	port=5432
	( echo "$BASHPID" >"$group/cgroup.procs" && start_cluster "$work/conf" )
	mkdir "$TESTBED/slow" "$fast/fast"
	chown "$user" "$TESTBED/slow" "$fast/fast"
	sql -c "CREATE TABLESPACE slow LOCATION '$TESTBED/slow'" \
		-c "CREATE TABLESPACE fast LOCATION '$fast/fast'"
}

# This shell and all that it starts go before other work on this machine, which would
# else be measured as time that disks take.
go_first() { chrt -f -p 1 "$BASHPID" >/dev/null 2>&1 || true; }

# start_cold [VARIABLE=VALUE...]: the server anew, nothing being cached; its environment
start_cold()
{
	in_src "$pg_bin/pg_ctl" -D "$work/data" -m fast -s -w stop
	forget_tablespaces
	( echo "$BASHPID" >"$group/cgroup.procs" && go_first &&
		in_src env "$@" "$pg_bin/pg_ctl" -D "$work/data" -l "$work/server.log" -s -w start )
}

limit_memory() { set_memory_limit "$memory" "$TESTBED" "$work" "$fast"; }

# For cleanup_more: the server, the group and the fast disk go.
undo_two_disks()
{
	stop_cluster
	sleep 0.2					# the last processes leave the group
	rmdir "$group"
	if [ -n "$fast" ]; then bench/testbed/down "$work.fast"; fi
}

# Nothing of the tablespaces is in the page cache.
forget_tablespaces()
{
	sync -f "$TESTBED" "$fast"
	find "$TESTBED/slow" "$fast/fast" -type f -size +64k -print0 |
		xargs -0 -r -n 1 sh -c 'dd of="$0" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null'
}

# make_ten_indexes ROWS FILLFACTOR: a table t on the slow disk with ten different
# indexes, none of whose updates of "stamp" is HOT
make_ten_indexes()
{
	sql <<-END
		SET default_tablespace = slow;
		SELECT setseed(0.5);
		CREATE TABLE t (id int, a int, b int, c int, d int, e int, f int, g int,
			h text, stamp bigint, filler char(60)) WITH (fillfactor = $2);
		INSERT INTO t SELECT n, random() * 1e9, random() * 1e9, random() * 1e9,
			random() * 20, random() * 1e9, random() * 1e9, n / 50,
			md5(n::text), n, '' FROM generate_series(1, $1) n;
		ALTER TABLE t ADD PRIMARY KEY (id);
		CREATE INDEX t_a ON t (a);
		CREATE INDEX t_b_c ON t (b, c);
		CREATE INDEX t_c ON t (c) INCLUDE (a, b, e);
		CREATE INDEX t_d ON t (d);
		CREATE INDEX t_e_some ON t (e) WHERE f < 250000000;
		CREATE INDEX t_f ON t (f);
		CREATE INDEX t_g ON t (g);
		CREATE INDEX t_h ON t (h);
		CREATE INDEX t_stamp ON t (stamp);
		VACUUM ANALYZE t;
	END
}

# --- loads --------------------------------------------------------------------------

# in_background COMMAND: a part of the load, in a process group of its own
load_pids=()
in_background()
{
	set -m
	("$@") &
	load_pids+=($!)
	set +m
}

# For cleanup_more, too: all that is in the background ends.
stop_load()
{
	local pid

	for pid in ${load_pids[@]+"${load_pids[@]}"}; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
	for pid in ${load_pids[@]+"${load_pids[@]}"}; do
		wait "$pid" 2>/dev/null || true
	done
	load_pids=()
}

checkpoint_often() { while :; do sql -c CHECKPOINT; sleep 3; done; }
