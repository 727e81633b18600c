/*
 * net: opens sockets in a jail's network and hands them over to its parent process, on a channel of
 * Node's own: lines of JSON, with a descriptor beside those that bring one.
 *
 * It sees no byte of what is sent, and ends with its channel.
 */
#include "jail.h"

#include <arpa/inet.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

static int channel;

static void tell(const char *line, int fd) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fd)];
  } control = {0};
  struct iovec part = {(void *)line, strlen(line)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  while (sendmsg(channel, &message, MSG_NOSIGNAL) < 0) {
    struct pollfd room = {.fd = channel, .events = POLLOUT};
    if (errno == EAGAIN) poll(&room, 1, -1);
    else if (errno != EINTR) _exit(1);
  }
  if (fd >= 0) close(fd);
}

static int connect_to(const struct sockaddr *address, socklen_t length) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  /* A listener whose queue is full must not hold up the others. */
  struct timeval patience = {.tv_sec = 2};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, address, length) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* `localhost` is either of two addresses, and a server may listen on one alone. */
static void open_connection(unsigned id, unsigned port) {
  char line[128];
  struct sockaddr_in four = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = connect_to((struct sockaddr *)&four, sizeof four);
  int error = errno;
  if (fd < 0) fd = connect_to((struct sockaddr *)&six, sizeof six);
  if (fd < 0) snprintf(line, sizeof line, "{\"id\":%u,\"errno\":%d}\n", id, error);
  else snprintf(line, sizeof line, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"id\":%u}}\n", id);
  tell(line, fd);
}

static int open_bound(int type, const char *address, unsigned port) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, address, &place.sin_addr);
  int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&place, sizeof place) != 0) die("net", address);
  return fd;
}

/* Connections that the jail's firewall turned here instead of where they wanted to go. */
static int start_gate(void) {
  char line[64];
  struct sockaddr_in place;
  socklen_t length = sizeof place;
  int fd = open_bound(SOCK_STREAM, "127.0.0.1", 0);
  if (listen(fd, 128) != 0 || getsockname(fd, (struct sockaddr *)&place, &length) != 0) die("net", "listen");
  tell("{\"cmd\":\"NODE_HANDLE\",\"type\":\"dgram.Socket\",\"dgramType\":\"udp4\",\"msg\":{\"names\":1}}\n",
       open_bound(SOCK_DGRAM, "127.0.0.53", 53));
  snprintf(line, sizeof line, "{\"gate\":%d}\n", ntohs(place.sin_port));
  tell(line, -1);
  return fd;
}

static void admit(int gate) {
  char line[160], address[INET_ADDRSTRLEN];
  struct sockaddr_in wanted;
  socklen_t length = sizeof wanted;
  int fd = accept4(gate, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &wanted, &length) != 0) {
    close(fd);
    return;
  }
  inet_ntop(AF_INET, &wanted.sin_addr, address, sizeof address);
  snprintf(line, sizeof line,
           "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"address\":\"%s\",\"port\":%d}}\n", address,
           ntohs(wanted.sin_port));
  tell(line, fd);
}

/* Lines of a fixed form, as relay.ts writes them; others are Node's acknowledgements. */
static void obey_lines(int *gate) {
  static char lines[4096];
  static size_t length;
  ssize_t got = read(channel, lines + length, sizeof lines - length - 1);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
  if (got < 0) return;
  length += got;
  lines[length] = 0;
  char *line = lines;
  for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    unsigned id, port;
    if (sscanf(line, "{\"connect\":%u,\"id\":%u}", &port, &id) == 2) open_connection(id, port);
    if (strncmp(line, "{\"gate\":true}", 13) == 0 && *gate < 0) *gate = start_gate();
  }
  length = strlen(line);
  memmove(lines, line, length);
}

/* net PID */
int net_main(int argc, char **argv) {
  const char *number = getenv("NODE_CHANNEL_FD");
  int gate = -1;
  if (argc < 1 || number == NULL) return 2;
  /* What others of this program say on CONTROL is no JSON. */
  channel = fcntl(atoi(number), F_DUPFD_CLOEXEC, CONTROL + 1);
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (channel < 0 || dup2(nowhere, CONTROL) < 0) return 1;
  enter(atoi(argv[0]), CLONE_NEWUSER | CLONE_NEWNET);
  tell("{\"ready\":true}\n", -1);
  for (;;) {
    struct pollfd watched[] = {{.fd = channel, .events = POLLIN}, {.fd = gate, .events = POLLIN}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) return 1;
    if (watched[0].revents != 0) obey_lines(&gate);
    if (watched[1].revents != 0) admit(gate);
  }
}
