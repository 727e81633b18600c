/*
 * A client of file systems that costs next to nothing itself. Prints nanoseconds.
 *
 *   client create DIR N       makes N files of 4 KiB: create, write, close
 *   client unlink DIR N       removes them
 *   client mkdir DIR N        makes N directories
 *   client stat DIR D N       stats N files in each of D directories, after one that does not count
 *   client read FILE          reads it from beginning to end
 *   client run COMMAND...     runs a command and drops its output
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES (128 << 10)

static char block[4096];
static char buffer[READ_BYTES];

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what, const char *path) {
  fprintf(stderr, "client: cannot %s %s: %s\n", what, path, strerror(errno));
  exit(1);
}

static void create_file(const char *path) {
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (fd < 0) fail("create", path);
  if (write(fd, block, sizeof block) != sizeof block) fail("write", path);
  if (close(fd) != 0) fail("close", path);
}

static void remove_file(const char *path) {
  if (unlink(path) != 0) fail("unlink", path);
}

static void make_directory(const char *path) {
  if (mkdir(path, 0755) != 0) fail("mkdir", path);
}

static void stat_file(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) fail("stat", path);
}

static void each(const char *dir, long from, long to, void (*work)(const char *)) {
  char path[8192];
  for (long i = from; i < to; i++) {
    snprintf(path, sizeof path, "%s/f%ld", dir, i);
    work(path);
  }
}

/* The first one brings the directory into the daemon's memory; the kernel still has to ask for all others. */
static long long stat_all(const char *dir, long directories, long files) {
  char path[4096];
  for (long d = 0; d < directories; d++) {
    snprintf(path, sizeof path, "%s/d%ld", dir, d);
    each(path, 0, 1, stat_file);
  }
  long long begin = now();
  for (long d = 0; d < directories; d++) {
    snprintf(path, sizeof path, "%s/d%ld", dir, d);
    each(path, 1, files + 1, stat_file);
  }
  return now() - begin;
}

static void read_file(const char *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) fail("open", path);
  ssize_t length;
  while ((length = read(fd, buffer, sizeof buffer)) > 0);
  if (length < 0) fail("read", path);
  close(fd);
}

static void run(char **command) {
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    execvp(command[0], command);
    fail("start", command[0]);
  }
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) fail("run", command[0]);
  if (status != 0) {
    fprintf(stderr, "client: %s ended with status %d\n", command[0], status);
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *what = argv[1], *path = argv[2];
  long n = argc > 3 ? atol(argv[3]) : 0;
  long long begin = now();
  if (strcmp(what, "create") == 0) each(path, 0, n, create_file);
  else if (strcmp(what, "unlink") == 0) each(path, 0, n, remove_file);
  else if (strcmp(what, "mkdir") == 0) each(path, 0, n, make_directory);
  else if (strcmp(what, "read") == 0) read_file(path);
  else if (strcmp(what, "run") == 0) run(argv + 2);
  else if (strcmp(what, "stat") == 0 && argc > 4) {
    printf("%lld\n", stat_all(path, n, atol(argv[4])));
    return 0;
  } else return 2;
  printf("%lld\n", now() - begin);
  return 0;
}
