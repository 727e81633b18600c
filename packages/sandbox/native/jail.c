#include "jail.h"

#include <stdarg.h>
#include <sys/socket.h>

void say(const char *format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (length > (int)sizeof line - 1) length = sizeof line - 1;
  /* The reader may be gone; that is its own concern. */
  if (send(CONTROL, line, length, MSG_NOSIGNAL) < 0) return;
}

_Noreturn void die(const char *step, const char *what) {
  int error = errno;
  say("fail %s %d %s\n", step, error, what);
  dprintf(2, "%s: %s: %s\n", step, what, strerror(error));
  _exit(125);
}

void put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) die("write", path);
  close(fd);
}

void close_others(void) {
  fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
  if (syscall(SYS_close_range, CONTROL + 1, ~0U, 0) != 0) die("jail", "close descriptors");
}

void become(uid_t uid, gid_t gid) {
  if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) die("user", "change to it");
}

void enter(pid_t pid, int namespaces) {
  int fd = syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0 || setns(fd, namespaces) != 0) die("jail", "enter it");
  close(fd);
  become(0, 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "init") == 0) return init_main();
  if (strcmp(what, "exec") == 0) return exec_main(argc - 2, argv + 2);
  if (strcmp(what, "fuse") == 0) return fuse_main(argc - 2, argv + 2);
  if (strcmp(what, "net") == 0) return net_main(argc - 2, argv + 2);
  fputs("This is a part of cairn, started by it.\n", stderr);
  return 2;
}
