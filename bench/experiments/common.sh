# Copyright (c) 2026, The tablespace_advisor developers

# Shared by the experiments: rows, a server, an emulated disk, a limit on memory.
# Sourced by bash scripts that bench/published starts.
set -euo pipefail
: "${PUBLISHED_BASE:?start this with bench/published ${0##*/}}"
. "$(dirname "$0")/../common.sh"

experiment=${0##*/}
work=$PUBLISHED_BASE/$experiment		# bench/published removes it
user=$PUBLISHED_USER
pg_config=$PUBLISHED_PG_CONFIG
pg_bin=$("$pg_config" --bindir)
small=$PUBLISHED_SMALL
port=5432
ln -sfn ../src "$work/src"
chown "$(id -u "$user"):$(id -g "$user")" "$work"

# Everything that was made is noted, and undone at the end; bench/published
# does it again in case this script was killed.
undo_later() { printf '%s\t%s\n' "$1" "$2" >>"$PUBLISHED_UNDO"; }
end_experiment()
{
	local status=$? job

	trap '' INT TERM HUP
	trap - EXIT
	for job in ${jobs_left[@]+"${jobs_left[@]}"}; do end_group "$job"; done
	bench/experiments/undo "$PUBLISHED_UNDO" || true
	exit "$status"
}
trap end_experiment EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# --- rows ---------------------------------------------------------------------

# measured KEY VALUES [NOTE]: one value, or several separated by spaces.  A row
# without a value was not measured, which its note has to explain.
measured()
{
	if [ -z "${2// /}" ]; then
		skipped "$1" "${3:-no value came out}"
	else
		printf '%s\tmeasured\t%s\t%s\n' "$1" "$2" "$(tr '\n\t' '  ' <<<"${3:-}")" >>"$work/rows"
	fi
}

# skipped KEYS REASON: keys may be patterns of the shell
skipped()
{
	local key pattern patterns

	read -r -a patterns <<<"$1"			# without looking for files
	# shellcheck disable=SC2254	# the keys are patterns
	for key in $(awk -v name="$experiment" '
		/^== / { on = $2 == name; next }
		on && /^[a-z0-9_]+ \|/ { print $1 }' "$PUBLISHED_FIGURES"); do
		for pattern in "${patterns[@]}"; do
			case $key in
				$pattern) printf '%s\tskipped\t%s\n' "$key" "$(tr '\n\t' '  ' <<<"$2")" >>"$work/rows" ;;
			esac
		done
	done
}

calc() { bench/experiments/calc "$@"; }
add() { echo "${1:+$1 }$2"; }
# full NORMAL MINIATURE: the one that is asked for
full() { if [ -n "$small" ]; then echo "$2"; else echo "$1"; fi; }
have() { command -v "$1" >/dev/null; }
now_ms() { date +%s%3N; }

# --- a server -----------------------------------------------------------------

# start_server [CONF LINES]: a cluster with the extension in database postgres
start_server()
{
	as_user cp -a "$PUBLISHED_BASE/template" "$work/data"
	printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$work'" \
		"autovacuum = off" "max_wal_size = 20GB" "checkpoint_timeout = 1d" "$@" |
		as_user tee -a "$work/data/postgresql.conf" >/dev/null
	undo_later server "$work/data"
	(
		if [ -n "${group:-}" ]; then echo "$BASHPID" >"$group/cgroup.procs"; fi
		in_src "$pg_bin/pg_ctl" -D "$work/data" -l "$work/server.log" -s -w start
	) || { tail "$work/server.log"; die "the private server did not start"; }
	sql -c "CREATE EXTENSION tablespace_advisor"
}
sql() { in_src psql -XAtq -v ON_ERROR_STOP=1 -d "${database:-postgres}" "$@"; }

# make_tablespace NAME DIRECTORY: the directory is made
make_tablespace()
{
	mkdir -p "$2"
	chown "$(id -u "$user"):$(id -g "$user")" "$2"
	sql -c "CREATE TABLESPACE $1 LOCATION '$2'"
}

# tps SCRIPT CLIENTS SECONDS [pgbench's arguments]: sets $tps, transactions a
# second
tps()
{
	local script=$1 clients=$2 seconds=$3 threads

	shift 3
	threads=$((clients < $(nproc) ? clients : $(nproc)))
	in_src pgbench -n -M prepared -c "$clients" -j "$threads" -T "$seconds" \
		-f "$script" "$@" "${database:-postgres}" >"$work/pgbench.log" 2>&1 ||
		{ tail -n 20 "$work/pgbench.log" >&2; return 1; }
	# where not one transaction was finished, pgbench does not say so in tps
	tps=$(awk '/^tps = / { n = $3 } END { print n + 0 }' "$work/pgbench.log")
}

# probe TABLESPACE WORKLOAD DEPTH COLUMN SECONDS FILE_SIZE: sets $probed, and adds
# to $caveats why not to trust it
caveats=
probe()
{
	local answer caveat

	answer=$(sql -F '	' -c "SET client_min_messages = warning" -c "SELECT $4, caveat
		FROM probe_tablespace('$1', '$5 s', '$6', '{$3}', '{$2}')")
	caveat=${answer#*	}
	probed=${answer%%	*}
	case "; $caveats; " in
		*"; $caveat"*) ;;			# known, or none
		*) caveats+="${caveats:+; }$caveat" ;;
	esac
}

# --- an emulated disk, a limit on memory ----------------------------------------

# emulated_disk NAME [SIZE [PARAMETER=VALUE ...]]: sets $mnt and $device, or
# fails and says in $why what is missing
emulated_disk()
{
	local dir

	dir=$(mktemp -u "${TMPDIR:-/tmp}/tsa.disk.XXXXXX")
	undo_later disk "$dir"
	if ! mnt=$(bench/testbed/up "$dir" "${@:2}" 2>"$work/disk.log"); then
		why=$(sed 's/^skipped: //' "$work/disk.log" | tail -n 1)
		return 1
	fi
	device=$(cat "$dir/device")
}

# memory_group: sets $group, or fails and says why
memory_group() { make_memory_group && undo_later group "$group"; }

# Limits the memory of the server, page cache included, to so many MB.
limit_memory()
{
	sql -c CHECKPOINT
	set_memory_limit "$1" "$work" ${mnt:+"$mnt"}
}
