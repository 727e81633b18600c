/*
 * The spool: files that are memory, so that a record costs a copy instead of a system call, and survives this process.
 */
#define _GNU_SOURCE
#include "mapped-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "js.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static void unmap(napi_env env, void *data, void *hint) {
  (void)env;
  munmap(data, (size_t)hint);
}

typedef struct {
  napi_async_work work;
  napi_deferred deferred;
  napi_ref left_ref;
  int fd, error;
  uint32_t size;
  /* What is mapped over, if anything. */
  void *left, *data;
} mapping_t;

static bool mapping_from(napi_env env, const napi_value *argv, mapping_t *m) {
  void *left = NULL;
  size_t left_size = 0;
  napi_get_value_int32(env, argv[0], &m->fd);
  napi_get_value_uint32(env, argv[1], &m->size);
  napi_get_arraybuffer_info(env, argv[2], &left, &left_size);
  if (left_size == m->size) m->left = left;
  return m->left != NULL;
}

static void map(napi_env env, void *data) {
  mapping_t *m = data;
  (void)env;
  do m->error = posix_fallocate(m->fd, 0, m->size);
  while (m->error == EINTR);
  if (m->error != 0) return;
  const int flags = MAP_SHARED | (m->left != NULL ? MAP_FIXED : 0);
  m->data = mmap(m->left, m->size, PROT_READ | PROT_WRITE, flags, m->fd, 0);
  if (m->data == MAP_FAILED) {
    m->error = errno;
    return;
  }
  /* All pages at once take a tenth of what each takes when it is written to first: a third of a `tar x`. Where the
     kernel cannot (before 5.14) they come one by one. */
  madvise(m->data, m->size, MADV_POPULATE_WRITE);
}

static napi_value mapped_value(napi_env env, mapping_t *m, napi_value left) {
  napi_value buffer;
  if (m->error != 0) return number(env, -m->error);
  if (m->left != NULL) return left;
  napi_create_external_arraybuffer(env, m->data, m->size, unmap, (void *)(size_t)m->size, &buffer);
  return buffer;
}

/* openMemory(): a file in memory alone, which lasts as long as some process has its descriptor. */
napi_value js_open_memory(napi_env env, napi_callback_info info) {
  (void)info;
  int fd = memfd_create("cairn", MFD_CLOEXEC);
  return number(env, fd < 0 ? -errno : fd);
}

/* mapFile(fd, size, left): an ArrayBuffer that is the file, which gets its room on the disk first: writing to it cannot
   fail for want of any. What is written there survives this process. A buffer of that size which is no file any more
   becomes this one. */
napi_value js_map_file(napi_env env, napi_callback_info info) {
  napi_value argv[3];
  mapping_t m = {0};
  if (!arguments(env, info, 3, argv)) return NULL;
  mapping_from(env, argv, &m);
  map(env, &m);
  return mapped_value(env, &m, argv[2]);
}

static void mapped(napi_env env, napi_status status, void *data) {
  mapping_t *m = data;
  napi_value left = NULL;
  if (status != napi_ok) m->error = ECANCELED;
  if (m->left_ref != NULL) napi_get_reference_value(env, m->left_ref, &left);
  napi_resolve_deferred(env, m->deferred, mapped_value(env, m, left));
  if (m->left_ref != NULL) napi_delete_reference(env, m->left_ref);
  napi_delete_async_work(env, m->work);
  free(m);
}

/* mapFileLater(fd, size, left): the same as a promise. The pages are brought in by another thread, which has a CPU to
   itself while this one waits for the next request. */
napi_value js_map_file_later(napi_env env, napi_callback_info info) {
  napi_value argv[3], promise, name;
  if (!arguments(env, info, 3, argv)) return NULL;
  mapping_t *m = calloc(1, sizeof *m);
  if (m == NULL) return napi_throw_error(env, "ENOMEM", "fuseio: out of memory"), NULL;
  if (mapping_from(env, argv, m)) napi_create_reference(env, argv[2], 1, &m->left_ref);
  napi_create_promise(env, &m->deferred, &promise);
  napi_create_string_utf8(env, "mapFile", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, NULL, name, map, mapped, m, &m->work);
  napi_queue_async_work(env, m->work);
  return promise;
}

/* leaveFile(buffer): empty memory takes the file's place, so that the disk has back the room of a deleted one at once
   and not when the garbage collector comes by. */
napi_value js_leave_file(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  void *data;
  size_t size;
  if (!arguments(env, info, 1, argv) || napi_get_arraybuffer_info(env, argv[0], &data, &size) != napi_ok) return NULL;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  return number(env, mmap(data, size, PROT_READ, flags, -1, 0) == MAP_FAILED ? -errno : 0);
}
