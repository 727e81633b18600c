// Stands by for the supervisor of a mount, which sleeps nearly always and takes 50 MB to do so. Holds its descriptors,
// writes what the daemon prints to its log, and becomes the supervisor as soon as there is something to decide: a message
// of the daemon, its death, or a signal to stop. The process keeps its number and its descriptors.
//   standby DAEMON-PID DAEMON-START LOG FILE ARGUMENT…
// FILE with its arguments is the supervisor; told to stop, it gets the word `stop` as well. What it inherits stays unread.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** As in hand-over.ts. */
enum { CHANNEL = 4, OUTPUT = 5 };

/** As in daemon-log.ts. */
static const off_t log_bytes_max = 1 << 20;

/** A killed daemon may keep its sockets: a thread of it can be waiting in the kernel. */
static const struct timespec look_after = {.tv_sec = 1};

static volatile sig_atomic_t is_stopping;

static void stop(int signal) {
  (void)signal;
  is_stopping = 1;
}

/** Whether the daemon still runs: a zombie does not, and its number may have a new owner. */
static int is_running(const char *pid, const char *started_at) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  // The name of the program comes before and may hold anything.
  char *field = strrchr(text, ')');
  if (field == NULL || field[1] == 0 || field[2] == 'Z' || field[2] == 'X') return 0;
  field += 2;
  for (int i = 0; i < 19 && field != NULL; i++) {
    field = strchr(field, ' ');
    if (field != NULL) field++;
  }
  size_t digits = strlen(started_at);
  return field != NULL && strncmp(field, started_at, digits) == 0 && field[digits] == ' ';
}

static int open_log(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/** What finds no room on the disk is dropped. */
static void append_to_log(const char *path, const char *text, size_t length) {
  int fd = open_log(path);
  struct stat stat;
  if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > log_bytes_max) {
    char older[4096];
    if (snprintf(older, sizeof older, "%s.1", path) < (int)sizeof older && rename(path, older) == 0) {
      close(fd);
      fd = open_log(path);
    }
  }
  if (fd < 0) return;
  if (write(fd, text, length) < 0) { /* dropped */ }
  close(fd);
}

/** False when there will be no more. */
static int take_output(const char *log) {
  static char text[1 << 16];
  ssize_t length = read(OUTPUT, text, sizeof text);
  if (length > 0) append_to_log(log, text, length);
  return length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR));
}

/** Returns when the supervisor is needed. */
static void stand_by(char **argv, const sigset_t *awake) {
  struct pollfd sockets[] = {{.fd = CHANNEL, .events = POLLIN}, {.fd = OUTPUT, .events = POLLIN}};
  while (!is_stopping) {
    int ready = ppoll(sockets, 2, &look_after, awake);
    if (ready > 0 && sockets[0].revents != 0) return;
    if (ready > 0 && sockets[1].revents != 0 && !take_output(argv[3])) sockets[1].fd = -1;
    if (ready == 0 && !is_running(argv[1], argv[2])) return;
  }
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  sigset_t stopping, awake;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTERM);
  sigaddset(&stopping, SIGINT);
  sigprocmask(SIG_BLOCK, &stopping, &awake);
  sigdelset(&awake, SIGTERM);
  sigdelset(&awake, SIGINT);
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  signal(SIGHUP, SIG_IGN);
  stand_by(argv, &awake);
  // A signal that came together with a message counts, too.
  sigprocmask(SIG_SETMASK, &awake, NULL);
  char **supervisor = calloc(argc, sizeof *supervisor);
  if (supervisor == NULL) return 1;
  memcpy(supervisor, argv + 4, (argc - 4) * sizeof *supervisor);
  if (is_stopping) supervisor[argc - 4] = "stop";
  execv(supervisor[0], supervisor);
  static const char failure[] = "the program of the supervisor is gone: the mount ends\n";
  append_to_log(argv[3], failure, sizeof failure - 1);
  return 1;
}
