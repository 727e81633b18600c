/*
 * What a jail needs of the kernel that JavaScript cannot ask for. What a jail is made of is decided in TypeScript: this
 * program is told each mount, and does it in the right namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where it talks to the process that started it: a socket, one line a message. */
#define CONTROL 3

/* Says on the control socket and the standard error what failed, and ends. */
_Noreturn void die(const char *step, const char *what);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a short text into a file of the kernel's. */
void put(const char *path, const char *text);
/* From now on in the namespaces of that process, as root of its users. */
void enter(pid_t pid, int namespaces);
void become(uid_t uid, gid_t gid);
/* From now on this process and its children do without some system calls: guard.c says which. */
void guard(void);
/* Descriptors that were open where this was started are not for the jail. */
void close_others(void);

int init_main(void);
int exec_main(int argc, char **argv);
int fuse_main(int argc, char **argv);
int net_main(int argc, char **argv);
