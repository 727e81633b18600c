/* exec: runs a program in a jail and tells how it ended. Its environment is the program's. */
#include "jail.h"

#include <asm/termbits.h>
#include <asm/ioctls.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#define GROUPS_MAX 64

static gid_t groups[GROUPS_MAX];
static size_t group_count;

/* Read as files: the libraries that getpwnam would load here are the jail's. */
static struct passwd find_user(const char *name) {
  FILE *file = fopen("/etc/passwd", "re");
  struct passwd *found = NULL;
  if (file == NULL) die("user", "/etc/passwd");
  while ((found = fgetpwent(file)) != NULL && strcmp(found->pw_name, name) != 0) continue;
  errno = ENOENT;
  if (found == NULL) die("user", name);
  fclose(file);
  return *found;
}

static void find_groups(const struct passwd *user) {
  FILE *file = fopen("/etc/group", "re");
  struct group *group;
  groups[group_count++] = user->pw_gid;
  while (file != NULL && group_count < GROUPS_MAX && (group = fgetgrent(file)) != NULL)
    for (char **member = group->gr_mem; *member != NULL; member++)
      if (strcmp(*member, user->pw_name) == 0) {
        groups[group_count++] = group->gr_gid;
        break;
      }
  if (file != NULL) fclose(file);
}

static void add_environment(const struct passwd *user) {
  setenv("HOME", user->pw_dir, 0);
  setenv("USER", user->pw_name, 0);
  setenv("LOGNAME", user->pw_name, 0);
  setenv("SHELL", user->pw_shell, 0);
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
}

static void take_terminal(int terminal) {
  if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0) die("jail", "take the terminal");
  for (int fd = 0; fd < 3; fd++) dup2(terminal, fd);
}

static _Noreturn void run(const struct passwd *user, const char *cwd, int terminal, char **args) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (terminal >= 0) take_terminal(terminal);
  else setsid();
  /* An ordinary user's jail has no groups to set. */
  if (setgroups(group_count, groups) != 0 && errno != EPERM) die("user", "set its groups");
  become(user->pw_uid, user->pw_gid);
  if (chdir(cwd) != 0) die("cwd", cwd);
  add_environment(user);
  say("start %d\n", getpid());
  execvp(args[0], args);
  int error = errno;
  dprintf(2, "%s: %s\n", args[0], error == ENOENT ? "command not found" : strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/* A line of the control socket: `signal NUMBER` or `size COLUMNS ROWS`. False: nobody listens any more. */
static bool obey(pid_t child, int terminal) {
  char lines[256];
  ssize_t got = read(CONTROL, lines, sizeof lines - 1);
  if (got <= 0) return false;
  lines[got] = 0;
  for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    unsigned first = 0, second = 0;
    if (sscanf(line, "signal %u", &first) == 1) kill(child, first);
    if (terminal >= 0 && sscanf(line, "size %u %u", &first, &second) == 2) {
      struct winsize size = {.ws_col = first, .ws_row = second};
      ioctl(terminal, TIOCSWINSZ, &size);
    }
  }
  return true;
}

/* Some bytes from one to the other. False: there will be no more. */
static bool pass(int from, int to) {
  char bytes[16384];
  ssize_t got = read(from, bytes, sizeof bytes);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  for (ssize_t done = 0; done < got;) {
    ssize_t wrote = write(to, bytes + done, got - done);
    if (wrote < 0) {
      struct pollfd room = {.fd = to, .events = POLLOUT};
      if (errno != EAGAIN || poll(&room, 1, -1) < 0) return false;
    } else done += wrote;
  }
  return got > 0;
}

static int open_terminal(const char *size, const struct passwd *user, int *program_side) {
  unsigned columns = 80, rows = 24;
  int unlock = 0;
  sscanf(size, "%ux%u", &columns, &rows);
  int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ioctl(terminal, TIOCSPTLCK, &unlock) != 0) die("jail", "/dev/ptmx");
  *program_side = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*program_side < 0 || fchown(*program_side, user->pw_uid, -1) != 0) die("jail", "/dev/pts");
  struct winsize initial = {.ws_col = columns, .ws_row = rows};
  ioctl(terminal, TIOCSWINSZ, &initial);
  return terminal;
}

static void tell_end(int status) {
  if (WIFSIGNALED(status)) say("signal %d\n", WTERMSIG(status));
  else say("exit %d\n", WEXITSTATUS(status));
}

/* The signal also comes when a child is stopped or goes on. */
static bool has_ended(pid_t child, int children, int *status) {
  struct signalfd_siginfo ignored;
  return read(children, &ignored, sizeof ignored) > 0 && waitpid(child, status, WNOHANG) == child;
}

/* What a terminal shows after the end of its program was written before it. */
static int watch(pid_t child, int children, int terminal) {
  int status = 0;
  enum { control, ended, input, output };
  struct pollfd watched[] = {{.fd = CONTROL, .events = POLLIN},
                             {.fd = children, .events = POLLIN},
                             {.fd = terminal < 0 ? -1 : 0, .events = POLLIN},
                             {.fd = terminal, .events = POLLIN}};
  for (;;) {
    if (poll(watched, 4, -1) < 0 && errno != EINTR) die("jail", "poll");
    if (watched[control].revents != 0 && !obey(child, terminal)) watched[control].fd = -1;
    if (watched[input].revents != 0 && !pass(0, terminal)) watched[input].fd = -1;
    if (watched[output].revents != 0 && !pass(terminal, 1)) watched[output].fd = -1;
    if (watched[ended].revents != 0 && has_ended(child, children, &status)) break;
  }
  struct pollfd rest = {.fd = terminal, .events = POLLIN};
  while (terminal >= 0 && poll(&rest, 1, 0) > 0 && pass(terminal, 1)) continue;
  return status;
}

/* exec PID USER CWD SIZE CGROUP... -- PROGRAM ARGUMENT...: an empty CWD is the user's home, an empty SIZE no terminal. */
int exec_main(int argc, char **argv) {
  int at = 4, terminal = -1, program_side = -1;
  fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
  for (; at < argc && strcmp(argv[at], "--") != 0; at++) put(argv[at], "0");
  if (at + 1 >= argc) return 2;
  enter(atoi(argv[0]), CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET |
                           CLONE_NEWCGROUP);
  struct passwd user = find_user(argv[1]);
  find_groups(&user);
  const char *cwd = argv[2][0] == 0 ? user.pw_dir : argv[2];
  if (argv[3][0] != 0) terminal = open_terminal(argv[3], &user, &program_side);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, NULL);
  int children = signalfd(-1, &child_ended, SFD_CLOEXEC);
  pid_t child = fork();
  if (child < 0) die("jail", "fork");
  if (child == 0) run(&user, cwd, program_side, argv + at + 1);
  if (terminal >= 0) close(program_side);
  else for (int fd = 0; fd < 3; fd++) close(fd);
  tell_end(watch(child, children, terminal));
  return 0;
}
