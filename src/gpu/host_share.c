/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host_share.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * NAME_DIGITS: length of the abstract name that Linux gives to a Unix socket (unix(7), autobind): after a
 * zero byte, five hexadecimal digits. QUEUE: connections that may wait. WAIT_S: longest wait for a
 * descriptor, in s.
 */
enum { NAME_DIGITS = 5, QUEUE = 64, WAIT_S = 5 };

struct kwhy_gpu_host_lender {
	pthread_t thread;
	int socket, file;
};

/* Space for one descriptor in a control message, aligned as the system requires. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool is_of_user(int socket)
{
	struct ucred who;
	socklen_t length = sizeof(who);

	return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) && who.uid == geteuid();
}

static void give(int socket, int file)
{
	char byte = 0;
	struct iovec one = {&byte, 1};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &one,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};

	control.head = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	(void)sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *lend(void *context)
{
	const struct kwhy_gpu_host_lender *lender = context;
	int socket;

	while ((socket = accept4(lender->socket, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR ||
		errno == ECONNABORTED || errno == EMFILE) {
		if (socket < 0)
			continue;
		if (is_of_user(socket))
			give(socket, lender->file);
		close(socket);
	}
	return NULL;
}

/* Starts the thread with all signals blocked, because signals are for the program's own threads. */
static int start(struct kwhy_gpu_host_lender *lender)
{
	sigset_t all, before;
	int reason;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	reason = pthread_create(&lender->thread, NULL, lend, lender);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return reason;
}

/*
 * Makes a listening Unix socket with a name that the system chooses, and copies the name to out->name.
 * Returns the descriptor; -1: errno says why it failed.
 */
static int listen_somewhere(struct kwhy_gpu_host_loan *out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(address);
	int number = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), reason;

	if (number >= 0 && !bind(number, (const struct sockaddr *)&address, sizeof(sa_family_t)) &&
		!listen(number, QUEUE) && !getsockname(number, (struct sockaddr *)&address, &length) &&
		length == offsetof(struct sockaddr_un, sun_path) + 1 + NAME_DIGITS) {
		memcpy(out->name, address.sun_path + 1, NAME_DIGITS);
		return number;
	}
	reason = errno;
	if (number >= 0)
		close(number);
	errno = reason;
	return -1;
}

struct kwhy_gpu_host_lender *kwhy_gpu_host_lend(int file, size_t bytes, struct kwhy_gpu_host_loan *out)
{
	struct kwhy_gpu_host_lender *lender = malloc(sizeof(*lender));
	int reason;

	if (!lender)
		return NULL;
	*out = (struct kwhy_gpu_host_loan){.bytes = bytes};
	*lender = (struct kwhy_gpu_host_lender){.socket = listen_somewhere(out), .file = file};
	reason = lender->socket < 0 ? errno : start(lender);
	if (!reason)
		return lender;
	if (lender->socket >= 0)
		close(lender->socket);
	free(lender);
	errno = reason;
	return NULL;
}

void kwhy_gpu_host_lender_close(struct kwhy_gpu_host_lender *lender)
{
	if (!lender)
		return;
	shutdown(lender->socket, SHUT_RDWR);
	pthread_join(lender->thread, NULL);
	close(lender->socket);
	free(lender);
}

/*
 * Makes a socket address of loan->name. false: the name does not consist of NAME_DIGITS hexadecimal digits,
 * so it is not one that the system gave.
 */
static bool name_address(
	const struct kwhy_gpu_host_loan *loan, struct sockaddr_un *out, socklen_t *out_length)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strnlen(loan->name, sizeof(loan->name)) != NAME_DIGITS ||
		strspn(loan->name, "0123456789abcdef") != NAME_DIGITS)
		return false;
	memcpy(out->sun_path + 1, loan->name, NAME_DIGITS);
	*out_length = offsetof(struct sockaddr_un, sun_path) + 1 + NAME_DIGITS;
	return true;
}

/*
 * Receives one file descriptor over a socket; -1: errno says why. The buffer has space for one only, so the
 * system closes any further ones.
 */
static int take(int socket)
{
	char byte;
	struct iovec one = {&byte, 1};
	union control control;
	struct msghdr message = {.msg_iov = &one,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *head;
	int file = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
		head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&file, CMSG_DATA(head), sizeof(file));
	else
		errno = EPROTO;
	return file;
}

/*
 * Whether a file is a memory file of `bytes` bytes that is sealed against shrinking. An access to mapped
 * pages of such a file cannot fail with SIGBUS, whatever the other process does.
 */
static bool is_as_noted(int file, uint64_t bytes)
{
	const int seals = fcntl(file, F_GET_SEALS);
	struct stat facts;

	return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(file, &facts) && facts.st_size > 0 &&
		(uint64_t)facts.st_size == bytes;
}

static int borrow_from(int number, const struct sockaddr_un *address, socklen_t length, uint64_t bytes)
{
	const struct timeval wait = {.tv_sec = WAIT_S};
	int file;

	setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (connect(number, (const struct sockaddr *)address, length))
		return -1;
	if (!is_of_user(number)) {
		errno = EACCES;
		return -1;
	}
	file = take(number);
	if (file >= 0 && !is_as_noted(file, bytes)) {
		close(file);
		errno = EPROTO;
		return -1;
	}
	return file;
}

int kwhy_gpu_host_borrow(const struct kwhy_gpu_host_loan *loan)
{
	struct sockaddr_un address;
	socklen_t length;
	int number, file, reason;

	errno = EPROTO;
	if (!name_address(loan, &address, &length))
		return -1;
	number = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (number < 0)
		return -1;
	file = borrow_from(number, &address, length, loan->bytes);
	reason = errno;
	close(number);
	errno = reason;
	return file;
}
