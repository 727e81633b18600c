/*
 * exec: runs a program in a jail and tells how it ended. Its environment is the program's.
 *
 * What this process was given to read and write are sockets, which a program cannot open again as /dev/stdout: it gets
 * pipes of its own, or a terminal, and the bytes are passed on here.
 */
#include "jail.h"

#include <asm/termbits.h>
#include <asm/ioctls.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

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

/* What the program has as its standard input, output and errors. */
static int given[3] = {-1, -1, -1};

static void take_given(bool is_terminal) {
  if (setsid() < 0 || (is_terminal && ioctl(given[0], TIOCSCTTY, 0) != 0)) die("jail", "take the terminal");
  for (int fd = 0; fd < 3; fd++)
    if (given[fd] >= 0) dup2(given[fd], fd);
}

#define DOORS_MAX 16

/* Files of the jail's cgroups that a process joins by writing 0, opened while paths are still the host's. */
static int doors[DOORS_MAX];
static size_t door_count;

static void open_door(const char *path) {
  if (door_count == DOORS_MAX) errno = E2BIG, die("write", path);
  doors[door_count] = open(path, O_WRONLY | O_CLOEXEC);
  if (doors[door_count++] < 0) die("write", path);
}

/*
 * Only the program joins. This process stays outside, so that it lives to bury the program when the jail is killed: the
 * kernel ends a jail when all in it are buried, and the first process of a container may not reap.
 */
static void join_groups(void) {
  for (size_t i = 0; i < door_count; i++)
    if (write(doors[i], "0", 1) < 0) die("jail", "join its cgroups");
}

static _Noreturn void run(const struct passwd *user, const char *cwd, bool is_terminal, char **args) {
  join_groups();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  take_given(is_terminal);
  /* An ordinary user's jail has no groups to set. */
  if (setgroups(group_count, groups) != 0 && errno != EPERM) die("user", "set its groups");
  guard();
  become(user->pw_uid, user->pw_gid);
  if (chdir(cwd) != 0) die("cwd", cwd);
  add_environment(user);
  say("start %d\n", getpid());
  execvp(args[0], args);
  int error = errno;
  dprintf(2, "%s: %s\n", args[0], error == ENOENT ? "command not found" : strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/*
 * A line of the control socket: `signal NUMBER` or `size COLUMNS ROWS`. False when the other end is
 * gone.
 */
static bool obey(pid_t child, int terminal) {
  char lines[256];
  ssize_t got = read(CONTROL, lines, sizeof lines - 1);
  if (got <= 0) return false;
  lines[got] = 0;
  for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    unsigned first = 0, second = 0;
    if (child > 0 && sscanf(line, "signal %u", &first) == 1) kill(child, first);
    if (terminal >= 0 && sscanf(line, "size %u %u", &first, &second) == 2) {
      struct winsize size = {.ws_col = first, .ws_row = second};
      ioctl(terminal, TIOCSWINSZ, &size);
    }
  }
  return true;
}

/* Bytes on their way from one descriptor to another. Nothing waits for it: a program may read and write at once. */
typedef struct {
  int from, to;
  /* The end of `from` is not that of `to`: a terminal goes on without input. */
  bool keeps_open;
  size_t start, end;
  char bytes[65536];
} route_t;

enum { input, output, errors, route_count };
static route_t routes[route_count];

static void open_route(int which, int from, int to, bool keeps_open) {
  route_t *route = &routes[which];
  route->from = from;
  route->to = to;
  route->keeps_open = keeps_open;
  fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
  fcntl(to, F_SETFL, fcntl(to, F_GETFL) | O_NONBLOCK);
}

static void close_route(route_t *route) {
  if (!route->keeps_open) {
    close(route->from);
    close(route->to);
  }
  route->from = -1;
}

static bool is_waiting(const route_t *route) { return route->from >= 0 && route->end > route->start; }

static struct pollfd watch_route(const route_t *route) {
  if (is_waiting(route)) return (struct pollfd){.fd = route->to, .events = POLLOUT};
  return (struct pollfd){.fd = route->from, .events = POLLIN};
}

static void pass_on(route_t *route) {
  bool is_writing = is_waiting(route);
  ssize_t done = is_writing ? write(route->to, route->bytes + route->start, route->end - route->start)
                            : read(route->from, route->bytes, sizeof route->bytes);
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (done <= 0) close_route(route);
  else if (is_writing) route->start += done;
  else {
    route->start = 0;
    route->end = done;
  }
}

static int open_terminal(const char *size, const struct passwd *user) {
  unsigned columns = 80, rows = 24;
  int unlock = 0;
  sscanf(size, "%ux%u", &columns, &rows);
  int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ioctl(terminal, TIOCSPTLCK, &unlock) != 0) die("jail", "/dev/ptmx");
  int program_side = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (program_side < 0 || fchown(program_side, user->pw_uid, -1) != 0) die("jail", "/dev/pts");
  struct winsize initial = {.ws_col = columns, .ws_row = rows};
  ioctl(terminal, TIOCSWINSZ, &initial);
  for (int fd = 0; fd < 3; fd++) given[fd] = program_side;
  open_route(input, 0, terminal, true);
  open_route(output, terminal, 1, true);
  return terminal;
}

/* They are the user's, or it could not open them again. */
static void open_pipes(const struct passwd *user) {
  struct stat standard;
  int ends[2];
  for (int fd = 0; fd < 3; fd++) {
    if (fstat(fd, &standard) != 0 || !S_ISSOCK(standard.st_mode)) continue;
    if (pipe2(ends, O_CLOEXEC) != 0 || fchown(ends[0], user->pw_uid, user->pw_gid) != 0) die("jail", "pipe");
    given[fd] = ends[fd == 0 ? 0 : 1];
    if (fd == 0) open_route(input, 0, ends[1], false);
    else open_route(fd == 1 ? output : errors, ends[0], fd, false);
  }
}

/* The program is told of once; the signal also comes when it is stopped or goes on. */
static bool has_ended(pid_t child, int children) {
  struct signalfd_siginfo ignored;
  int status = 0;
  if (read(children, &ignored, sizeof ignored) <= 0 || waitpid(child, &status, WNOHANG) != child) return false;
  if (WIFSIGNALED(status)) say("signal %d\n", WTERMSIG(status));
  else say("exit %d\n", WEXITSTATUS(status));
  return true;
}

static bool has_output(void) { return routes[output].from >= 0 || routes[errors].from >= 0; }

/*
 * Until the program and everything that holds its output open has ended. What a terminal shows
 * after the end of its program was written before it: others may keep it open, but no output
 * follows.
 */
static void watch(pid_t child, int children, int terminal) {
  int control = CONTROL;
  bool ended = false;
  while (!ended || has_output()) {
    struct pollfd watched[2 + route_count] = {{.fd = control, .events = POLLIN},
                                              {.fd = ended ? -1 : children, .events = POLLIN}};
    for (int i = 0; i < route_count; i++) watched[2 + i] = watch_route(&routes[i]);
    bool is_last_look = ended && terminal >= 0 && !is_waiting(&routes[output]);
    if (is_last_look) watched[0].fd = watched[2 + input].fd = -1;
    int ready = poll(watched, 2 + route_count, is_last_look ? 0 : -1);
    if (ready < 0 && errno != EINTR) die("jail", "poll");
    if (ready == 0 && is_last_look) return;
    for (int i = 0; i < route_count && ready > 0; i++)
      if (watched[2 + i].revents != 0) pass_on(&routes[i]);
    if (watched[0].revents != 0 && !obey(ended ? -1 : child, terminal)) control = -1;
    if (watched[1].revents != 0 && has_ended(child, children)) ended = true;
  }
}

/* exec PID USER CWD SIZE CGROUP... -- PROGRAM ARGUMENT...: an empty CWD is the user's home, an empty SIZE no terminal. */
int exec_main(int argc, char **argv) {
  int at = 4, terminal = -1;
  close_others();
  for (int i = 0; i < route_count; i++) routes[i].from = -1;
  for (; at < argc && strcmp(argv[at], "--") != 0; at++) open_door(argv[at]);
  if (at + 1 >= argc) return 2;
  enter(atoi(argv[0]), CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET |
                           CLONE_NEWCGROUP);
  struct passwd user = find_user(argv[1]);
  find_groups(&user);
  const char *cwd = argv[2][0] == 0 ? user.pw_dir : argv[2];
  if (argv[3][0] != 0) terminal = open_terminal(argv[3], &user);
  else open_pipes(&user);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, NULL);
  signal(SIGPIPE, SIG_IGN);
  int children = signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK);
  pid_t child = fork();
  if (child < 0) die("jail", "fork");
  if (child == 0) run(&user, cwd, terminal >= 0, argv + at + 1);
  for (int fd = 0; fd < 3; fd++)
    if (given[fd] >= 0 && (terminal < 0 || fd == 0)) close(given[fd]);
  watch(child, children, terminal);
  return 0;
}
