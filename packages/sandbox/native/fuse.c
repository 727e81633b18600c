/*
 * fuse: as fusermount3, but mounts in a jail. The descriptor goes to the caller, who may be
 * outside.
 */
#include "jail.h"

#include <sys/mount.h>
#include <sys/socket.h>

static int mount_fuse(char *options, const char *directory) {
  unsigned long flags = MS_NOSUID | MS_NODEV;
  char source[256] = "cairn", data[256];
  int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  snprintf(data, sizeof data, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
  for (char *word = strtok(options, ","); word != NULL; word = strtok(NULL, ",")) {
    if (strcmp(word, "ro") == 0) flags |= MS_RDONLY;
    if (strncmp(word, "fsname=", 7) == 0) snprintf(source, sizeof source, "%s", word + 7);
    if (strcmp(word, "allow_other") == 0 || strcmp(word, "default_permissions") == 0) {
      size_t length = strlen(data);
      snprintf(data + length, sizeof data - length, ",%s", word);
    }
  }
  return mount(source, directory, "fuse.cairn", flags, data) == 0 ? fd : -1;
}

static bool hand_over(int fd, int socket) {
  char byte = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fd)];
  } control = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  control.header = (struct cmsghdr){
      .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

/* fuse PID -o OPTIONS -- DIRECTORY, or fuse PID -u [-z] -- DIRECTORY */
int fuse_main(int argc, char **argv) {
  const char *socket = getenv("_FUSE_COMMFD");
  if (argc < 4) return 2;
  const char *directory = argv[argc - 1];
  enter(atoi(argv[0]), CLONE_NEWUSER | CLONE_NEWNS);
  if (strcmp(argv[1], "-u") == 0) {
    bool lazy = strcmp(argv[2], "-z") == 0;
    if (umount2(directory, lazy ? MNT_DETACH : 0) == 0) return 0;
  } else {
    int fd = mount_fuse(argv[2], directory);
    if (fd >= 0 && socket != NULL && hand_over(fd, atoi(socket))) return 0;
  }
  fprintf(stderr, "%s: %s\n", directory, strerror(errno));
  return 1;
}
