/*
 * What JavaScript cannot do for a FUSE daemon: mount(2), receiving a descriptor, and reading and writing /dev/fuse
 * from the event loop without a thread hop for each request. What the bytes mean is not known here.
 *
 * Functions give a number: >= 0 is a result, < 0 is -errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "js.h"
#include "mapped-file.h"

/* How much of what the usual gap is one more gap says: 1 / 2^n. */
#define GAP_SHIFT 3

typedef struct {
  /* The uv_poll_t follows this struct, so its address must suit any type. */
  alignas(16) napi_env env;
  napi_ref self, callback, request_ref, reply_ref;
  napi_async_cleanup_hook_handle hook;
  char *request, *reply;
  size_t request_size, reply_size;
  int fd;
  int64_t spin_nanoseconds, answered, usual_gap;
  /* Freed once libuv and the garbage collector have both let go of it. */
  bool closing, closed, collected;
} channel_t;

static uv_poll_t *poll_of(channel_t *ch) { return (uv_poll_t *)(ch + 1); }
static channel_t *channel_of(void *handle) { return (channel_t *)handle - 1; }

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static channel_t *channel_from(napi_env env, napi_value value) {
  void *ch = NULL;
  if (napi_get_value_external(env, value, &ch) == napi_ok) return ch;
  napi_throw_type_error(env, NULL, "fuseio: not a channel");
  return NULL;
}

static bool bytes_from(napi_env env, napi_value value, char **data, size_t *size) {
  int type;
  if (napi_get_typedarray_info(env, value, &type, size, (void **)data, NULL, NULL) == napi_ok &&
      type == napi_uint8_array)
    return true;
  napi_throw_type_error(env, NULL, "fuseio: not a Uint8Array");
  return false;
}

/* --- mounting --- */

/* mount(source, dir, flags, options). Does not wait for the daemon's first answer. */
static napi_value js_mount(napi_env env, napi_callback_info info) {
  napi_value argv[4];
  char source[256], dir[PATH_MAX], options[1024];
  uint32_t flags = 0;
  if (!arguments(env, info, 4, argv)) return NULL;
  napi_get_value_string_utf8(env, argv[0], source, sizeof source, NULL);
  napi_get_value_string_utf8(env, argv[1], dir, sizeof dir, NULL);
  napi_get_value_uint32(env, argv[2], &flags);
  napi_get_value_string_utf8(env, argv[3], options, sizeof options, NULL);
  return number(env, mount(source, dir, "fuse.cairn", flags, options) == 0 ? 0 : -errno);
}

typedef struct {
  napi_async_work work;
  napi_deferred deferred;
  int flags, result;
  char dir[PATH_MAX];
} unmounting_t;

static void unmount_in_pool(napi_env env, void *data) {
  unmounting_t *u = data;
  (void)env;
  u->result = umount2(u->dir, u->flags) == 0 ? 0 : -errno;
}

static void unmounted(napi_env env, napi_status status, void *data) {
  unmounting_t *u = data;
  napi_resolve_deferred(env, u->deferred, number(env, status == napi_ok ? u->result : -ECANCELED));
  napi_delete_async_work(env, u->work);
  free(u);
}

/* umount(dir, flags), a promise: dirty pages of a mapped file go to the daemon first, which must be free to answer. */
static napi_value js_umount(napi_env env, napi_callback_info info) {
  napi_value argv[2], promise, name;
  if (!arguments(env, info, 2, argv)) return NULL;
  unmounting_t *u = calloc(1, sizeof *u);
  if (u == NULL) return napi_throw_error(env, "ENOMEM", "fuseio: out of memory"), NULL;
  napi_get_value_string_utf8(env, argv[0], u->dir, sizeof u->dir, NULL);
  napi_get_value_int32(env, argv[1], &u->flags);
  napi_create_promise(env, &u->deferred, &promise);
  napi_create_string_utf8(env, "umount", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, NULL, name, unmount_in_pool, unmounted, u, &u->work);
  napi_queue_async_work(env, u->work);
  return promise;
}

/* From linux/mount.h, which clashes with sys/mount.h in some libraries. */
#define CAIRN_FSOPEN_CLOEXEC 1
#define CAIRN_FSMOUNT_CLOEXEC 1
#define CAIRN_FSCONFIG_CMD_CREATE 6

/* openAbort(connection): a descriptor that ends this FUSE connection when something is written to it. For where fusectl is
   not mounted: this instance of it has no place in the file tree. Needs root. */
static napi_value js_open_abort(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  uint32_t connection = 0;
  char path[32];
  if (!arguments(env, info, 1, argv)) return NULL;
  napi_get_value_uint32(env, argv[0], &connection);
  int context = (int)syscall(SYS_fsopen, "fusectl", CAIRN_FSOPEN_CLOEXEC);
  if (context < 0) return number(env, -errno);
  int control = syscall(SYS_fsconfig, context, CAIRN_FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0
                    ? -1
                    : (int)syscall(SYS_fsmount, context, CAIRN_FSMOUNT_CLOEXEC, 0);
  int result = -errno;
  close(context);
  if (control < 0) return number(env, result);
  snprintf(path, sizeof path, "%u/abort", connection);
  int fd = openat(control, path, O_WRONLY | O_CLOEXEC);
  result = fd < 0 ? -errno : fd;
  close(control);
  return number(env, result);
}

/* socketPair(): two connected descriptors, which only a child that is given one inherits. */
static napi_value js_socket_pair(napi_env env, napi_callback_info info) {
  int fds[2];
  napi_value pair;
  (void)info;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return number(env, -errno);
  napi_create_array_with_length(env, 2, &pair);
  for (uint32_t i = 0; i < 2; i++) napi_set_element(env, pair, i, number(env, fds[i]));
  return pair;
}

/* recvFd(socket): the descriptor that fusermount3 or sendFd has sent, made nonblocking; does not wait for it. -ENODATA: it sent
   something else. */
static napi_value js_recv_fd(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  int socket = -1, fd = -1;
  char byte;
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (!arguments(env, info, 1, argv)) return NULL;
  napi_get_value_int32(env, argv[0], &socket);
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got < 0) return number(env, -errno);
  struct cmsghdr *header = got == 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_type != SCM_RIGHTS) return number(env, -ENODATA);
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return number(env, fd);
}

/* sendFd(socket, fd): what recvFd at the other end gives. */
static napi_value js_send_fd(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  int socket = -1, fd = -1;
  char byte = 0;
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (!arguments(env, info, 2, argv)) return NULL;
  napi_get_value_int32(env, argv[0], &socket);
  napi_get_value_int32(env, argv[1], &fd);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return number(env, sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0);
}

/* --- the channel --- */

static void free_when_done(channel_t *ch) {
  if (ch->closed && ch->collected) free(ch);
}

static void on_closed(uv_handle_t *handle) {
  channel_t *ch = channel_of(handle);
  napi_remove_async_cleanup_hook(ch->hook);
  ch->closed = true;
  free_when_done(ch);
}

static void on_collected(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  ((channel_t *)data)->collected = true;
  free_when_done(data);
}

static void stop(channel_t *ch) {
  if (ch->closing) return;
  ch->closing = true;
  uv_poll_stop(poll_of(ch));
  uv_close((uv_handle_t *)poll_of(ch), on_closed);
}

/* Without it the end of a Worker that has an open channel aborts the whole process. */
static void on_environment_end(napi_async_cleanup_hook_handle hook, void *data) {
  (void)hook;
  stop(data);
}

/* The status says the same as the next read, which JavaScript does anyhow. */
static void on_readable(uv_poll_t *handle, int status, int events) {
  channel_t *ch = channel_of(handle);
  napi_env env = ch->env;
  napi_handle_scope scope;
  napi_value callback, global, error;
  (void)status, (void)events;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  napi_get_reference_value(env, ch->callback, &callback);
  napi_get_global(env, &global);
  if (napi_make_callback(env, NULL, global, callback, 0, NULL, NULL) == napi_pending_exception &&
      napi_get_and_clear_last_exception(env, &error) == napi_ok)
    napi_fatal_exception(env, error);
  napi_close_handle_scope(env, scope);
}

/* open(fd, requestBuffer, replyBuffer, spinMicroseconds, onReadable). Only after the mount: before it the
   descriptor polls as an error. */
static napi_value js_open(napi_env env, napi_callback_info info) {
  napi_value argv[5], external;
  uv_loop_t *loop;
  uint32_t spin = 0;
  if (!arguments(env, info, 5, argv)) return NULL;
  channel_t *ch = calloc(1, sizeof *ch + uv_handle_size(UV_POLL));
  if (ch == NULL) return napi_throw_error(env, "ENOMEM", "fuseio: out of memory"), NULL;
  ch->env = env;
  if (!bytes_from(env, argv[1], &ch->request, &ch->request_size) ||
      !bytes_from(env, argv[2], &ch->reply, &ch->reply_size))
    return free(ch), NULL;
  napi_get_value_int32(env, argv[0], &ch->fd);
  napi_get_value_uint32(env, argv[3], &spin);
  ch->spin_nanoseconds = (int64_t)spin * 1000;
  napi_get_uv_event_loop(env, &loop);
  int error = uv_poll_init(loop, poll_of(ch), ch->fd);
  if (error != 0) return free(ch), number(env, error);
  napi_create_external(env, ch, on_collected, NULL, &external);
  napi_create_reference(env, external, 1, &ch->self);
  napi_create_reference(env, argv[1], 1, &ch->request_ref);
  napi_create_reference(env, argv[2], 1, &ch->reply_ref);
  napi_create_reference(env, argv[4], 1, &ch->callback);
  napi_add_async_cleanup_hook(env, on_environment_end, ch, &ch->hook);
  uv_poll_start(poll_of(ch), UV_READABLE, on_readable);
  return external;
}

/* close(ch). The descriptor stays open: it is the caller's. */
static napi_value js_close(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  channel_t *ch;
  if (!arguments(env, info, 1, argv) || (ch = channel_from(env, argv[0])) == NULL || ch->closing) return NULL;
  stop(ch);
  napi_delete_reference(env, ch->callback);
  napi_delete_reference(env, ch->request_ref);
  napi_delete_reference(env, ch->reply_ref);
  napi_delete_reference(env, ch->self);
  return NULL;
}

/* EINTR, or ENOENT: the request was taken back while it was being read. */
static ssize_t read_once(channel_t *ch) {
  ssize_t got;
  do got = read(ch->fd, ch->request, ch->request_size);
  while (got < 0 && (errno == EINTR || errno == ENOENT));
  return got < 0 ? -errno : got;
}

/* How long a client usually takes from its answer to its next request. What is far too long counts as twice the spin, so
   that a client in a hurry is soon known as one. */
static void note_gap(channel_t *ch) {
  int64_t gap = now() - ch->answered, most = 2 * ch->spin_nanoseconds;
  ch->usual_gap += ((gap < most ? gap : most) - ch->usual_gap) >> GAP_SHIFT;
}

/* The client that was just answered often asks again at once; going to sleep meanwhile costs a wake-up across
   CPUs. sched_yield and not a busy loop, because that client may be waiting for this very CPU. Not for clients that take
   their time: what they compute needs the CPUs. */
static ssize_t receive(channel_t *ch) {
  if (ch->closing) return -EBADF;
  ssize_t got = read_once(ch);
  if (ch->spin_nanoseconds == 0) return got;
  if (got == -EAGAIN && ch->usual_gap < ch->spin_nanoseconds) {
    int64_t end = now() + ch->spin_nanoseconds;
    do {
      sched_yield();
      got = read_once(ch);
    } while (got == -EAGAIN && now() < end);
  }
  if (got > 0) note_gap(ch);
  return got;
}

static int transmit(channel_t *ch, const struct iovec *parts, int count) {
  ssize_t sent;
  if (ch->closing) return -EBADF;
  do sent = writev(ch->fd, parts, count);
  while (sent < 0 && errno == EINTR);
  if (ch->spin_nanoseconds > 0) ch->answered = now();
  return sent < 0 ? -errno : 0;
}

/* recv(ch): the size of the request that is now in the request buffer. */
static napi_value js_recv(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  channel_t *ch;
  if (!arguments(env, info, 1, argv) || (ch = channel_from(env, argv[0])) == NULL) return NULL;
  return number(env, receive(ch));
}

/*
 * sendRecv(ch, length): sends that much of the reply buffer (0: nothing), then as recv. An answer
 * without a waiting caller is no error.
 */
static napi_value js_send_recv(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  channel_t *ch;
  uint32_t length = 0;
  if (!arguments(env, info, 2, argv) || (ch = channel_from(env, argv[0])) == NULL) return NULL;
  napi_get_value_uint32(env, argv[1], &length);
  struct iovec part = {ch->reply, length < ch->reply_size ? length : ch->reply_size};
  if (length > 0) transmit(ch, &part, 1);
  return number(env, receive(ch));
}

/* sendv(ch, length, payload, offset, size): that much of the reply buffer, then that part of the payload. */
static napi_value js_sendv(napi_env env, napi_callback_info info) {
  napi_value argv[5];
  channel_t *ch;
  uint32_t length = 0, offset = 0, size = 0;
  char *payload;
  size_t payload_size;
  if (!arguments(env, info, 5, argv) || (ch = channel_from(env, argv[0])) == NULL) return NULL;
  napi_get_value_uint32(env, argv[1], &length);
  if (!bytes_from(env, argv[2], &payload, &payload_size)) return NULL;
  napi_get_value_uint32(env, argv[3], &offset);
  napi_get_value_uint32(env, argv[4], &size);
  if (length > ch->reply_size || (size_t)offset + size > payload_size) return number(env, -EINVAL);
  struct iovec parts[2] = {{ch->reply, length}, {payload + offset, size}};
  return number(env, transmit(ch, parts, 2));
}

/* send(ch, bytes, length): from any buffer. */
static napi_value js_send(napi_env env, napi_callback_info info) {
  napi_value argv[3];
  channel_t *ch;
  uint32_t length = 0;
  char *data;
  size_t size;
  if (!arguments(env, info, 3, argv) || (ch = channel_from(env, argv[0])) == NULL) return NULL;
  if (!bytes_from(env, argv[1], &data, &size)) return NULL;
  napi_get_value_uint32(env, argv[2], &length);
  if (length > size) return number(env, -EINVAL);
  struct iovec part = {data, length};
  return number(env, transmit(ch, &part, 1));
}

__attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"mount", js_mount},   {"umount", js_umount},      {"socketPair", js_socket_pair}, {"recvFd", js_recv_fd},
      {"open", js_open},     {"close", js_close},        {"recv", js_recv},              {"sendRecv", js_send_recv},
      {"sendv", js_sendv},   {"send", js_send},          {"mapFile", js_map_file},
      {"mapFileLater", js_map_file_later}, {"leaveFile", js_leave_file}, {"sendFd", js_send_fd},
      {"openMemory", js_open_memory},      {"openAbort", js_open_abort},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
