// One thread maps over pages of a file that were written, again and again: the kernel writes them first, and holds the
// lock of the process's memory meanwhile. Another thread makes and removes files. Ends when each has done its rounds.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { rounds = 30, pages = 64, page = 4096 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void *map_over(void *unused) {
  int fd = open("mapped", O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, pages * page) < 0) fail("mapped");
  char *bytes = NULL;
  for (int round = 0; round < rounds; round++) {
    int flags = MAP_SHARED | (bytes ? MAP_FIXED : 0);
    bytes = mmap(bytes, pages * page, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (bytes == MAP_FAILED) fail("mmap");
    for (int i = 0; i < pages; i++) bytes[i * page]++;
  }
  return unused;
}

static void *make_files(void *unused) {
  for (int round = 0; round < rounds; round++) {
    int fd = open("made", O_RDWR | O_CREAT, 0644);
    if (fd < 0 || write(fd, "x", 1) != 1) fail("made");
    close(fd);
    if (unlink("made") < 0) fail("unlink");
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, map_over, NULL);
  pthread_create(&threads[1], NULL, make_files, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("done");
}
