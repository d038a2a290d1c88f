# Copyright (c) 2026, The tablespace_advisor developers

# Disks of nbdkit's with a file system, and a server on them that can be killed;
# what bench/power_loss and bench/failing_disk share.  Sourced by them after
# tools/common.sh.  disk_command DIR, theirs, sets the array of that name to the
# command that a disk runs on; $file_system is what they are formatted with.

file_system=${file_system:-ext4}

skip() {
	echo "skipped: such a disk needs $1" >&2
	exit 77
}
[ "$(id -u)" = 0 ] || skip "root"
[ -c /dev/fuse ] || skip "/dev/fuse"
losetup -f >/dev/null 2>&1 || skip "a loop device"
for program in gcc nbdkit nbdfuse fusermount3 "mkfs.$file_system"; do
	command -v "$program" >/dev/null || skip "$program"
done
grep -qw "$file_system" /proc/filesystems || modprobe -q "$file_system" ||
	skip "a kernel that knows $file_system"
[ -f /usr/include/nbdkit-plugin.h ] || skip "nbdkit-plugin.h"

# --- the disks -----------------------------------------------------------------

# Starts the disk $work/NAME, which has an image, and mounts it; as a new one if
# there is a second argument.
disk_up()
{
	local dir=$work/$1 pid

	disk_command "$dir"
	setsid nbdfuse "$dir/fuse/disk.img" --command "${disk_command[@]}" \
		>>"$dir/log" 2>&1 </dev/null &
	pid=$!
	until [ -f "$dir/fuse/disk.img" ]; do
		kill -0 $pid 2>/dev/null || { cat "$dir/log" >&2; die "nbdfuse did not start"; }
		sleep 0.05
	done
	losetup --show --direct-io=on -f "$dir/fuse/disk.img" >"$dir/device"
	[ "${2:-}" != new ] || "mkfs.$file_system" -q "$(cat "$dir/device")"
	# what the kernel has not let go of yet has the same UUID
	mount -o "$([ "$file_system" = xfs ] && echo nouuid || echo defaults)" \
		"$(cat "$dir/device")" "$dir/mnt"
}

# A new one, with the directory mnt/pg for the server.
make_disk()
{
	mkdir "$work/$1" "$work/$1/fuse" "$work/$1/mnt"
	truncate -s 2G "$work/$1/image"
	disk_up "$1" new
	mkdir "$work/$1/mnt/pg"
	chown "$user" "$work/$1/mnt/pg"
	chmod 711 "$work/$1"
}

disk_down()
{
	local dir=$work/$1

	if mountpoint -q "$dir/mnt"; then
		umount "$dir/mnt" 2>/dev/null || { sleep 1; umount "$dir/mnt" || umount -l "$dir/mnt"; } || true
	fi
	[ ! -s "$dir/device" ] || losetup -d "$(cat "$dir/device")" 2>/dev/null || true
	: >"$dir/device"
	for _ in $(seq 100); do
		grep -q " $dir/fuse " /proc/mounts || return 0
		fusermount3 -u "$dir/fuse" 2>/dev/null && return 0
		sleep 0.1
	done
	umount -l "$dir/fuse"
}

# --- the server ------------------------------------------------------------------

sql() { in_src psql -XAtq -v ON_ERROR_STOP=1 -d postgres "$@"; }

start_server()
{
	in_src "$pg_bin/pg_ctl" -D "$data" -l "$work/server.log" -s -w -t 120 start &&
		head -n 1 "$data/postmaster.pid" >"$work/postmaster"
}

# start_on_disks DATA_DIRECTORY DISK...: new disks, a server with more settings on
# standard input, the tablespace "there" on disk b, and what prepare.sql makes.
start_on_disks()
{
	local disk

	data=$1
	shift
	chmod 711 "$work"
	: >"$work/postmaster"
	for disk; do make_disk "$disk"; done
	in_src "$pg_bin/initdb" -D "$data" -A trust -U "$user" -E UTF8 --no-locale >/dev/null
	cat >>"$data/postgresql.conf"
	cat >>"$data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$work'
		shared_buffers = 32MB
		max_wal_size = 256MB
		wal_keep_size = 512MB
		checkpoint_timeout = 30s
		wal_level = replica
		tablespace_advisor.min_wal_space = 0
	END
	export PGHOST=$work PGUSER=$user PGPORT=5432
	start_server
	sql -c "CREATE TABLESPACE there LOCATION '$work/b/mnt/pg'" -f bench/volatile/prepare.sql
}

# say_result LINE...: printed, and added to the file that --log names.
failures=0
say_result() { printf '%s\n' "$*" | tee -a "${log:-/dev/null}"; }

# Kills all of its processes and waits for their end.
kill_server()
{
	local postmaster pids pid

	postmaster=$(head -n 1 "$work/postmaster" 2>/dev/null) || return 0
	[ -n "$postmaster" ] || return 0
	kill -STOP "$postmaster" 2>/dev/null || true
	mapfile -t pids < <(pgrep -P "$postmaster" || true; echo "$postmaster")
	kill -KILL "${pids[@]}" 2>/dev/null || true
	for pid in "${pids[@]}"; do
		while [ -d "/proc/$pid" ] && ! grep -q '^State:.*zombie' "/proc/$pid/status" 2>/dev/null; do
			sleep 0.05
		done
	done
	: >"$work/postmaster"
}

# What pg_waldump prints of all that is in pg_wal.  A cut can bring back a segment
# that was removed, so there may be gaps, which it does not read beyond.
dump_wal()
{
	local segment

	find "$data/pg_wal" -name '0*' -printf '%f\n' | sort | while read -r segment; do
		in_src "$pg_bin/pg_waldump" -p "$data/pg_wal" --rmgr="$1" \
			--start="${segment:8:8}/${segment:22:2}000000" \
			--end="${segment:8:8}/${segment:22:2}FFFFFF" 2>/dev/null || true
	done
}

# Has a transaction dropped the file of that number, of which pg_wal knows?  What
# it says is kept in $work/dropped until that is removed.
dropped()
{
	[ -e "$work/dropped" ] ||
		dump_wal Transaction | grep -o 'COMMIT.*rels: [^;]*' >"$work/dropped" || true
	grep -qE "/${1%%[_.]*}( |\$)" "$work/dropped"
}
