/*
 * init: makes a jail and is its process 1.
 *
 * On the standard input come fields that end in NUL: an operation and its arguments, until `end`.
 * The input then stays open for as long as the jail's creator lives; its end is the jail's.
 */
#include "jail.h"

#include <linux/mount.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PLAN_BYTES_MAX (1 << 20)
#define HELD_MAX 512
/* Those that belong to the jail's root. */
#define LATER_NAMESPACES (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP)

static char plan[PLAN_BYTES_MAX];
static char *next_field = plan;
static int held[HELD_MAX];

/* Until the plan ends in an `end` of its own. */
static void read_plan(void) {
  size_t length = 0;
  while (length < 5 || memcmp(plan + length - 5, "\0end", 5) != 0) {
    ssize_t got = read(0, plan + length, sizeof plan - length);
    if (got <= 0) die("plan", "read it");
    length += got;
  }
}

static char *field(void) {
  char *found = next_field;
  next_field += strlen(found) + 1;
  return found;
}

static long number(void) { return strtol(field(), NULL, 0); }

/* The users of the jail: its 0 is `base` here. They are a child's, which ends once the descriptor is open. */
static int make_users(const char *base, const char *count) {
  int wait_for[2];
  char path[64], map[64];
  if (pipe2(wait_for, O_CLOEXEC) != 0) die("users", "pipe");
  pid_t child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child < 0) die("users", "make a user namespace");
  if (child == 0) {
    close(wait_for[1]);
    _exit(read(wait_for[0], map, 1) != 0);
  }
  snprintf(map, sizeof map, "0 %s %s", base, count);
  snprintf(path, sizeof path, "/proc/%d/uid_map", child);
  put(path, map);
  snprintf(path, sizeof path, "/proc/%d/gid_map", child);
  put(path, map);
  snprintf(path, sizeof path, "/proc/%d/ns/user", child);
  int users = open(path, O_RDONLY | O_CLOEXEC);
  if (users < 0) die("users", path);
  close(wait_for[0]);
  close(wait_for[1]);
  waitpid(child, NULL, 0);
  return users;
}

/*
 * Takes hold of a file, directory or mount, to be attached elsewhere: after the pivot paths are the jail's, and whatever
 * its disk has in the way of symlinks leads nowhere else. `shift`: the jail's users own what the same numbers own on the
 * disk. `read`: nothing can be written through it.
 */
static void hold(int users) {
  long index = number();
  char *source = field(), *how = field();
  bool is_shifted = strcmp(how, "shift") == 0, is_read = strcmp(how, "read") == 0;
  int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (is_shifted ? 0 : AT_RECURSIVE);
  int tree = syscall(SYS_open_tree, AT_FDCWD, source, flags);
  if (tree < 0 || index < 0 || index >= HELD_MAX) die("hold", source);
  struct mount_attr attributes = {0};
  if (is_shifted && users >= 0) attributes = (struct mount_attr){.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = users};
  if (is_read) attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  int where = AT_EMPTY_PATH | (is_shifted ? 0 : AT_RECURSIVE);
  if (attributes.attr_set != 0 &&
      syscall(SYS_mount_setattr, tree, "", where, &attributes, sizeof attributes) != 0)
    die(how, source);
  held[index] = tree;
}

static void attach(void) {
  long index = number();
  char *target = field();
  if (syscall(SYS_move_mount, held[index], "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) != 0)
    die("attach", target);
  close(held[index]);
}

static void mount_as_told(void) {
  char *source = field(), *target = field(), *type = field();
  unsigned long flags = number();
  char *data = field();
  if (mount(source, target, type, flags, data) != 0) die("mount", target);
}

static void make_node(void) {
  char *path = field();
  mode_t mode = number();
  unsigned major = number(), minor = number();
  if (mknod(path, S_IFCHR | mode, makedev(major, minor)) != 0) die("mknod", path);
}

/* A directory, or a file where something that is one will be attached; there already is fine. */
static void make_target(const char *path, bool is_file) {
  int made = is_file ? mknod(path, S_IFREG | 0644, 0) : mkdir(path, 0755);
  if (made != 0 && errno != EEXIST) die("make", path);
}

static void make_file(void) {
  char *path = field(), *text = field();
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) die("make", path);
  close(fd);
}

static void pivot(const char *root) {
  if (chdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
      chdir("/") != 0)
    die("pivot", root);
}

static void raise_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0) die("network", "lo");
  close(fd);
}

/* The mounts before this belong to the host's root, so that the jail's cannot undo them. */
static void leave_host(int users, const char *hostname) {
  if (users >= 0) {
    if (setns(users, CLONE_NEWUSER) != 0) die("users", "enter their namespace");
    become(0, 0);
    if (unshare(LATER_NAMESPACES) != 0) die("namespaces", "unshare");
  }
  if (sethostname(hostname, strlen(hostname)) != 0) die("hostname", hostname);
  raise_loopback();
  /* Keys that the host's session holds are not the jail's. */
  syscall(SYS_keyctl, 1, NULL, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void follow_plan(int users) {
  for (char *op = field(); strcmp(op, "end") != 0; op = field()) {
    if (strcmp(op, "mount") == 0) mount_as_told();
    else if (strcmp(op, "cd") == 0) {
      char *path = field();
      if (chdir(path) != 0) die("cd", path);
    }
    else if (strcmp(op, "hold") == 0) hold(users);
    else if (strcmp(op, "attach") == 0) attach();
    else if (strcmp(op, "mkdir") == 0) make_target(field(), false);
    else if (strcmp(op, "touch") == 0) make_target(field(), true);
    else if (strcmp(op, "file") == 0) make_file();
    else if (strcmp(op, "node") == 0) make_node();
    else if (strcmp(op, "link") == 0) {
      char *to = field(), *path = field();
      if (symlink(to, path) != 0) die("link", path);
    } else if (strcmp(op, "pivot") == 0) pivot(field());
    else if (strcmp(op, "leave") == 0) leave_host(users, field());
    else errno = EINVAL, die("plan", op);
  }
}

/* Reaps orphans until the jail's creator is gone. */
static _Noreturn void stay(int children) {
  struct pollfd watched[] = {{.fd = 0, .events = POLLIN}, {.fd = children, .events = POLLIN}};
  struct signalfd_siginfo ignored;
  char byte;
  for (;;) {
    if (poll(watched, 2, -1) < 0 && errno != EINTR) _exit(1);
    if (watched[0].revents != 0 && read(0, &byte, 1) <= 0) _exit(0);
    if (watched[1].revents != 0 && read(children, &ignored, sizeof ignored) > 0)
      while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
}

/*
 * Mounts are made by the jail's root, but with the capabilities of the host's: overlayfs acts later
 * as the user that mounted it, and on layers with shifted owners the host's root has no rights.
 */
static void act_as(uid_t owner) {
  if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0) die("users", "keep powers");
  setfsgid(owner);
  setfsuid(owner);
}

/* When memory is short, a program is to go and not the whole jail. Only root may say so. */
static void stay_to_the_last(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "-1000", 5) < 0) errno = 0;
  if (fd >= 0) close(fd);
}

/* Process 1. The kernel ends everything in the jail with it. */
static _Noreturn void be_first(int users, uid_t owner) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  setsid();
  stay_to_the_last();
  umask(0);
  for (; strcmp(next_field, "join") == 0; put(field(), "0")) field();
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) die("mount", "keep mounts private");
  if (users >= 0) act_as(owner);
  follow_plan(users);
  umask(022);
  /* The jail's root can make process 1 do anything, too. */
  guard();
  say("ready\n");
  close(CONTROL);
  stay(children);
}

/*
 * An ordinary user is the only one in the jail, and its root: the kernel lets only root give it
 * more.
 */
static pid_t clone_alone(void) {
  int mapped[2];
  char path[64], map[64], byte;
  uid_t uid = getuid();
  gid_t gid = getgid();
  if (pipe2(mapped, O_CLOEXEC) != 0) die("users", "pipe");
  const int all = CLONE_NEWUSER | CLONE_NEWPID | LATER_NAMESPACES;
  pid_t first = syscall(SYS_clone, all | SIGCHLD, NULL, NULL, NULL, NULL);
  if (first < 0) die("users", "make a user namespace");
  if (first == 0) {
    close(mapped[1]);
    if (read(mapped[0], &byte, 1) != 0) _exit(1);
    become(0, 0);
    return 0;
  }
  snprintf(path, sizeof path, "/proc/%d/setgroups", first);
  put(path, "deny");
  snprintf(map, sizeof map, "0 %d 1", uid);
  snprintf(path, sizeof path, "/proc/%d/uid_map", first);
  put(path, map);
  snprintf(map, sizeof map, "0 %d 1", gid);
  snprintf(path, sizeof path, "/proc/%d/gid_map", first);
  put(path, map);
  close(mapped[0]);
  close(mapped[1]);
  return first;
}

/*
 * The plan begins with the users, `BASE COUNT`, or a BASE of 0 for an ordinary user, then `join
 * CGROUP` for each. The process that waits here for process 1 is in none of them: it ends when
 * everything in the jail has.
 */
int init_main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_others();
  read_plan();
  char *base = field(), *count = field();
  uid_t owner = strtoul(base, NULL, 10);
  int users = owner == 0 ? -1 : make_users(base, count);
  pid_t first = users < 0 ? clone_alone()
                          : syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
  if (first < 0) die("namespaces", "clone");
  if (first == 0) be_first(users, owner);
  say("pid %d\n", first);
  close(0);
  close(CONTROL);
  waitpid(first, NULL, 0);
  return 0;
}
