/*
 * Runs a command where the kernel refuses asynchronous I/O, as seccomp profiles
 * of containers do: io_setup and io_uring_setup fail with EPERM.
 *
 *	no_aio COMMAND...
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#define REFUSE(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int
main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(__NR_io_setup),
		REFUSE(__NR_io_uring_setup),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog program = {
		sizeof(filter) / sizeof(filter[0]), filter
	};

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
	{
		perror("could not set a seccomp filter");
		return 3;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 4;
}
