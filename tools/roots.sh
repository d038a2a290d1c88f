# Copyright (c) 2026, The tablespace_advisor developers

# Debian roots for tests: what tools/matrix and tools/package share.  Sourced
# after common.sh.
#
# Whatever is mounted is mounted in a mount namespace that ends with the
# command it was made for, so nothing stays mounted, not even after kill -9.

suite_of()
{
	case $1 in
		15) echo bookworm ;;
		16) echo bookworm ;;		# its server is built from source
		17) echo trixie ;;
		18) echo forky ;;
		19) echo sid ;;				# and experimental
		*) die "no Debian suite has PostgreSQL $1" ;;
	esac
}

# The Debian mirror this system installs from.
mirror()
{
	apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' |
		sed -n 's/ Debian$//p' | head -n 1
}

# In a namespace of its own, so that mounts and processes end with it:
# in_namespace ROOT COMMAND... runs a command there, with /dev, /proc and /sys
# in ROOT, whose name is $root and which is a mount point itself, as / should be.
in_namespace()
{
	run unshare --mount --propagation private --pid --fork --kill-child \
		env root="$1" bash -c '
			set -e
			mkdir -p "$root"/dev "$root"/proc "$root"/sys
			mount --bind "$root" "$root"
			mount -t proc proc /proc
			mount -t proc proc "$root"/proc
			mount --rbind /sys "$root"/sys
			mount --rbind /dev "$root"/dev
			"$@"' bash "${@:2}"
}

# The root becomes the namespace's own, as chroot would not make it: tests
# make name spaces of users, which the kernel does not allow in a chroot.
in_root()
{
	in_namespace "$1" bash -c 'cd "$0" && pivot_root . . && umount -l . && exec "$@"' \
		"$1" env -i HOME=/root LC_ALL=C \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# make_debian SUITE DIR: installs a minimal Debian.
make_debian()
{
	local suite=$1 root=$2 from script include=

	from=$(mirror)
	[ -n "$from" ] || { echo "this system has no Debian mirror configured"; return 1; }
	case $from in https:*) include=--include=ca-certificates ;; esac
	script=/usr/share/debootstrap/scripts/$suite
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid

	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	run unshare --mount --propagation private --pid --fork --kill-child \
		debootstrap --variant=minbase $include "$suite" "$root" "$from" "$script" ||
		return 1

	# The way to the mirror is this system's; a mirror that has stood still for
	# some weeks will do for tests (its signature is checked all the same).
	{
		apt-config dump | grep -i '^Acquire::.*proxy' || true
		echo 'Acquire::Check-Valid-Until "false";'
	} >"$root/etc/apt/apt.conf.d/99tests"
	if [ -n "$include" ] && [ -e /etc/ssl/certs/ca-certificates.crt ]; then
		cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	fi
	# pip in it trusts what this system trusts, whatever package changes the list there.
	if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
		cp /etc/ssl/certs/ca-certificates.crt "$root/etc/pip.crt"
		printf '[global]\ncert = /etc/pip.crt\n' >"$root/etc/pip.conf"
	fi
	mkdir -p "$root/etc/postgresql-common/createcluster.d"
	echo 'create_main_cluster = false' \
		>"$root/etc/postgresql-common/createcluster.d/tests.conf"
}

# install_source VERSION DIR: builds PostgreSQL from $PG_SOURCE, a tree or an
# archive of one, and installs it where Debian's packages would, with contrib and
# the Perl modules for TAP tests.
install_source()
{
	local version=$1 root=$2

	[ -e "${PG_SOURCE:-}" ] ||
		{ echo "no Debian suite has PostgreSQL $version: PG_SOURCE has to name its source"; return 1; }
	in_root "$root" apt-get install -y -q --no-install-recommends \
		bison flex pkgconf libicu-dev liblz4-dev libreadline-dev libzstd-dev zlib1g-dev ||
		return 1
	in_root "$root" apt-get clean
	mkdir "$root/source"
	if [ -d "$PG_SOURCE" ]; then
		cp -r "$PG_SOURCE/." "$root/source"
	else
		tar -x --no-same-owner --strip-components=1 -C "$root/source" -f "$PG_SOURCE"
	fi &&
		[[ $("$root/source/configure" --version | head -n 1) == *" $version"[.a-z]* ]] ||
		{ echo "$PG_SOURCE is not the source of PostgreSQL $version"; return 1; }
	in_root "$root" env -C /source sh -ec "
		useradd --system postgres
		./configure --prefix=/usr/lib/postgresql/$version --enable-tap-tests \
			--with-icu --with-lz4 --with-zstd
		make -s -j $(nproc) world-bin
		make -s install-world-bin" &&
		rm -rf "$root/source"
}

# make_root VERSION DIR: installs Debian and PostgreSQL; DIR/.complete says
# that it is all there.
make_root()
{
	local version=$1 root=$2
	local -a target=()

	make_debian "$(suite_of "$version")" "$root" || return 1
	if [ "$version" = 19 ]; then
		echo "deb $(mirror) experimental main" \
			>"$root/etc/apt/sources.list.d/experimental.list"
		target=(-t experimental)
	fi
	in_root "$root" apt-get update -q &&
		in_root "$root" apt-get install -y -q --no-install-recommends \
			gcc libc6-dev make perl libaio-dev libipc-run-perl || return 1
	if [ "$version" = 16 ]; then
		install_source "$version" "$root" && touch "$root/.complete"
		return
	fi
	in_root "$root" apt-get install -y -q --no-install-recommends \
		${target[@]+"${target[@]}"} \
		"postgresql-$version" "postgresql-server-dev-$version" &&
		in_root "$root" apt-get clean &&
		touch "$root/.complete"
}
