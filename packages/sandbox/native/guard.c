/*
 * guard: the system calls that a jail does not get.
 *
 * A jail has namespaces of its own for almost everything. What is listed here has none, or has had so many bugs that
 * container runtimes deny it: sockets to the hypervisor and to the kernel's crypto, loading code into the kernel, keys,
 * performance counters, page faults handled in user space, and the clock, log and swap of the machine. What a jail is
 * promised (mount, namespaces, ptrace, raw sockets in its own network) stays.
 */
#include "jail.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "name the architecture of system calls here"
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The lower half of an argument: the kernel looks at no more of a domain or a request. */
#define ARGUMENT(number) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[number]))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define ANSWER(errno_) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errno_))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENY(call) IF_EQUAL(call, 0, 1), ANSWER(EPERM)

static struct sock_filter rules[] = {
    LOAD(arch),
    IF_EQUAL(NATIVE, 1, 0),
    /* 32-bit programs have other numbers, and one call for all of sockets. */
    ANSWER(ENOSYS),
    LOAD(nr),
#if defined(__x86_64__)
    /* So do programs for x32. */
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    ANSWER(ENOSYS),
#endif
    /* Families: local, both internets, the kernel's own, and packets of the jail's interfaces. */
    IF_EQUAL(SYS_socket, 1, 0),
    IF_EQUAL(SYS_socketpair, 0, 8),
    ARGUMENT(0),
    IF_EQUAL(AF_UNIX, 5, 0),
    IF_EQUAL(AF_INET, 4, 0),
    IF_EQUAL(AF_INET6, 3, 0),
    IF_EQUAL(AF_NETLINK, 2, 0),
    IF_EQUAL(AF_PACKET, 1, 0),
    ANSWER(EAFNOSUPPORT),
    ALLOW,
    /* Typing into a terminal, or pasting, as if its user did. */
    IF_EQUAL(SYS_ioctl, 0, 5),
    ARGUMENT(1),
    IF_EQUAL(TIOCSTI, 1, 0),
    IF_EQUAL(0x541C /* TIOCLINUX */, 0, 1),
    ANSWER(EPERM),
    ALLOW,
    /* Programs go on without it when the kernel has none. */
    IF_EQUAL(SYS_io_uring_setup, 0, 1),
    ANSWER(ENOSYS),
    DENY(SYS_bpf),
    DENY(SYS_perf_event_open),
    DENY(SYS_userfaultfd),
    DENY(SYS_keyctl),
    DENY(SYS_add_key),
    DENY(SYS_request_key),
    DENY(SYS_init_module),
    DENY(SYS_finit_module),
    DENY(SYS_delete_module),
    DENY(SYS_kexec_load),
#ifdef SYS_kexec_file_load
    DENY(SYS_kexec_file_load),
#endif
    DENY(SYS_open_by_handle_at),
    DENY(SYS_acct),
    DENY(SYS_swapon),
    DENY(SYS_swapoff),
    DENY(SYS_syslog),
    DENY(SYS_settimeofday),
    DENY(SYS_clock_settime),
    DENY(SYS_clock_adjtime),
    DENY(SYS_quotactl),
#ifdef SYS_lookup_dcookie
    DENY(SYS_lookup_dcookie),
#endif
    DENY(SYS_vhangup),
#if defined(__x86_64__)
    DENY(SYS_iopl),
    DENY(SYS_ioperm),
#endif
    ALLOW,
};

void guard(void) {
  struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = rules};
  /* As root of its own users: without that it would take no_new_privs, and sudo would not work inside. */
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) die("jail", "limit its system calls");
}
