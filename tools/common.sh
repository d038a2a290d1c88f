# Copyright (c) 2026, The tablespace_advisor developers

# Shared by check, demo and tools/matrix: what they need installed, a private
# place to work in, a throw-away server, and leaving nothing behind.  Sourced
# by bash scripts that have said "set -euo pipefail" and cd'ed to the checkout.

# What psql and other clients would take from whoever runs the script.
unset PGOPTIONS PGTZ PGDATESTYLE PGCLIENTENCODING PGAPPNAME PGGEQO

say()  { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die()  { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# usage ARGUMENT: prints the head of the script, after --help and after an argument
# that it does not know.
usage()
{
	local file

	for file in {.,bench,tools}/"${0##*/}"; do
		if [ -f "$file" ]; then
			sed -n '4,/^set/{/^#/s/^# \{0,1\}//p;}' "$file"
			break
		fi
	done
	case ${1-} in -h | --help) exit 0 ;; esac
	[ -z "${1-}" ] || printf '%s: unknown argument: %s\n' "${0##*/}" "$1" >&2
	exit 2
}

work=							# private directory, removed at exit
jobs_left=()					# process groups to end at exit

# --- ending ----------------------------------------------------------------

# Runs whatever way the script ends.  Servers started below $work, by us or by
# a TAP test that was killed, are found by their postmaster.pid.
cleanup()
{
	local status=$? job pidfile

	trap '' INT TERM HUP
	trap - EXIT
	for job in ${jobs_left[@]+"${jobs_left[@]}"}; do
		end_group "$job"
	done
	if declare -F cleanup_more >/dev/null; then
		cleanup_more || true
	fi
	if [ -n "$work" ] && [ -d "$work" ]; then
		while IFS= read -r pidfile; do
			[ -n "${pg_bin:-}" ] || break
			as_user "$pg_bin/pg_ctl" -D "$(dirname "$pidfile")" -m immediate \
				-w -t 20 stop >/dev/null 2>&1 || true
		done < <(find "$work" -name postmaster.pid 2>/dev/null)
		rm -rf "$work"
	fi
	exit "$status"
}

# Ends a process group, gently for up to five seconds.
end_group()
{
	local tries=50

	kill -TERM -- "-$1" 2>/dev/null || return 0
	while [ "$tries" -gt 0 ] && kill -0 -- "-$1" 2>/dev/null; do
		tries=$((tries - 1))
		sleep 0.1
	done
	kill -KILL -- "-$1" 2>/dev/null || true
}

catch_signals()
{
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Runs a command in a process group of its own and waits for it, so that a
# signal to this script is handled at once and ends all of the command.
run()
{
	local job status=0

	set -m
	"$@" </dev/null &
	job=$!
	set +m
	jobs_left+=("$job")
	wait "$job" || status=$?
	unset "jobs_left[-1]"
	return "$status"
}

# --- what has to be installed ----------------------------------------------

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "need root (or sudo) for: $*"
	fi
}

# Installs those of the named Debian packages that are missing.  Installing
# PostgreSQL on Debian also makes and starts a server of the system's own,
# which nobody asked for: that is switched off meanwhile.
need_packages()
{
	local package missing=() no_cluster

	if ! command -v dpkg-query >/dev/null; then
		note "not a Debian system: expecting these to be there: $*"
		return 0
	fi
	for package in "$@"; do
		if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
			missing+=("$package")
		fi
	done
	if [ ${#missing[@]} = 0 ]; then
		note "nothing to install: $* are there"
		return 0
	fi
	note "installing what is missing: ${missing[*]}"
	no_cluster=/etc/postgresql-common/createcluster.d/tablespace_advisor.conf
	if [ ! -e "$no_cluster" ]; then
		as_root mkdir -p "${no_cluster%/*}"
		echo 'create_main_cluster = false' | as_root tee "$no_cluster" >/dev/null
	fi
	as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends "${missing[@]}" >/dev/null ||
		{ as_root rm -f "$no_cluster"; die "could not install ${missing[*]}"; }
	as_root rm -f "$no_cluster"
}

# Installs those of the named Debian packages that there are.  Tests that need
# the others are skipped, and say so.
want_packages()
{
	local package there=()

	command -v apt-cache >/dev/null || return 0
	if [ "$(apt-cache policy "$@" | grep -c 'Candidate: [0-9]')" -lt $# ]; then
		as_root apt-get update -qq || true
	fi
	for package in "$@"; do
		if [[ $(apt-cache policy "$package") == *"Candidate: "[0-9]* ]]; then
			there+=("$package")
		else
			note "there is no package $package: its tests will be skipped"
		fi
	done
	if [ ${#there[@]} -gt 0 ]; then need_packages "${there[@]}"; fi
}

# Sets $pg_config to the server to use: PG_CONFIG from the environment, else
# the newest supported one installed, else the newest that can be installed.
need_server()
{
	local version packages=()

	if [ -z "${PG_CONFIG:-}" ]; then
		for version in 18 17 16 15; do
			if [ -x "/usr/lib/postgresql/$version/bin/postgres" ]; then
				break
			fi
			version=
		done
		if [ -z "$version" ] && command -v apt-cache >/dev/null; then
			as_root apt-get update -qq
			for version in 18 17 16 15; do
				if apt-cache show "postgresql-$version" >/dev/null 2>&1; then
					break
				fi
				version=
			done
		fi
		[ -n "$version" ] || die "no supported PostgreSQL found; say which with PG_CONFIG"
		packages=("postgresql-$version" "postgresql-server-dev-$version")
	fi
	need_packages gcc libc6-dev make perl libaio-dev libipc-run-perl \
		${packages[@]+"${packages[@]}"} "$@"
	pg_config=${PG_CONFIG:-/usr/lib/postgresql/$version/bin/pg_config}
	[ -f "$("$pg_config" --pgxs)" ] ||
		die "$pg_config: the server's development files are missing"
}

# --- an unprivileged user and a private place --------------------------------

# The server refuses to run as root, and a test that may do anything shows
# less: as root, work is done as user postgres.
choose_user()
{
	user=$(id -un)
	if [ "$(id -u)" = 0 ]; then
		user=postgres
		id -u "$user" >/dev/null 2>&1 || user=nobody
	fi
}

as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups "$@"
	else
		"$@"
	fi
}

# Copies the checkout to a directory: all files but the ignored ones.
copy_checkout()
{
	if git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files -z -co --exclude-standard |
			while IFS= read -r -d '' file; do
				if [ -e "$file" ]; then printf '%s\0' "$file"; fi
			done
	else
		find . \( -path ./build -o -path ./.git -o -path ./tmp_check -o \
			-path ./results -o -path ./output_iso -o -path ./log \) -prune -o \
			\( -type f ! -name '*.o' ! -name '*.so' ! -name '*.bc' -print0 \)
	fi | tar -c --null -T - | tar -x -C "$1"
}

# Makes $work, with a copy of the checkout in $work/src.  The path of a Unix
# socket in it must stay short.
make_work_dir()
{
	choose_user
	work=$(mktemp -d "${TMPDIR:-/tmp}/tsa.XXXXXX")
	mkdir "$work/src"
	copy_checkout "$work/src"
	if [ "$(id -u)" = 0 ]; then
		chown -R "$user" "$work"
	fi
}

# Copies the server that $pg_config names to $work/pg; sets $pg_config and
# $pg_bin to the copy, which the unprivileged user can install into.
make_private_server()
{
	pg_config=$(as_user "$work/src/tools/private_server" "$work/pg" "$pg_config")
	pg_bin=$(dirname "$pg_config")
}

# A private place and server with the extension, made of the copied checkout; and
# Debian packages that are needed besides.
install_private_server()
{
	need_server "$@"
	make_work_dir
	make_private_server
	install_extension
}

install_extension()
{
	run in_src make -s -j "$(nproc)" with_llvm=no all install >"$work/build.log" 2>&1 ||
		{ tail -n 30 "$work/build.log"; die "the build failed"; }
}

# The environment of everything that runs in $work.
in_src()
{
	as_user env -C "$work/src" HOME="$work" LC_ALL=C MAKEFLAGS= \
		PG_CONFIG="$pg_config" PGHOST="$work" PGPORT="${port:-5432}" \
		PATH="$pg_bin:$PATH" "$@"
}

# start_cluster CONF...: a throw-away cluster in $work/data that listens on a
# Unix socket in $work only; the files named are its configuration.
start_cluster()
{
	port=${port:-5432}
	in_src "$pg_bin/initdb" -D "$work/data" -A trust -E UTF8 --no-locale \
		--no-sync >"$work/initdb.log" || die "initdb failed"
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$work'"
		echo "port = $port"
		if [ $# -gt 0 ]; then cat "$@"; fi
	} | as_user tee -a "$work/data/postgresql.conf" >/dev/null
	in_src "$pg_bin/pg_ctl" -D "$work/data" -l "$work/server.log" -s -w start ||
		{ tail "$work/server.log"; die "the private server did not start"; }
}

stop_cluster()
{
	if [ -n "${pg_bin:-}" ] && [ -f "$work/data/postmaster.pid" ]; then
		as_user "$pg_bin/pg_ctl" -D "$work/data" -m immediate -s -w stop
	fi
}
