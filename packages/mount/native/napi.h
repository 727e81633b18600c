/*
 * The part of Node-API 8 and of libuv that is used here, declared by hand: the node binary exports all of it,
 * so that building needs a compiler and nothing else. Both are stable ABIs; no layout of a struct is assumed.
 */
#ifndef CAIRN_NAPI_H
#define CAIRN_NAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_ref__ *napi_ref;
typedef struct napi_handle_scope__ *napi_handle_scope;
typedef struct napi_deferred__ *napi_deferred;
typedef struct napi_callback_info__ *napi_callback_info;
typedef struct napi_async_context__ *napi_async_context;
typedef struct napi_async_work__ *napi_async_work;
typedef struct napi_async_cleanup_hook_handle__ *napi_async_cleanup_hook_handle;

/* An enum in Node's headers, of which only success is told apart here. */
typedef int napi_status;
enum { napi_ok = 0, napi_pending_exception = 10 };

typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
typedef void (*napi_finalize)(napi_env, void *data, void *hint);
typedef void (*napi_async_execute_callback)(napi_env, void *data);
typedef void (*napi_async_complete_callback)(napi_env, napi_status, void *data);
typedef void (*napi_async_cleanup_hook)(napi_async_cleanup_hook_handle, void *data);

napi_status napi_get_cb_info(napi_env, napi_callback_info, size_t *argc, napi_value *argv, napi_value *self,
                             void **data);
napi_status napi_create_function(napi_env, const char *name, size_t length, napi_callback, void *data,
                                 napi_value *result);
napi_status napi_set_named_property(napi_env, napi_value object, const char *name, napi_value value);
napi_status napi_get_value_int32(napi_env, napi_value, int32_t *);
napi_status napi_get_value_uint32(napi_env, napi_value, uint32_t *);
napi_status napi_get_value_string_utf8(napi_env, napi_value, char *, size_t size, size_t *length);
napi_status napi_get_value_external(napi_env, napi_value, void **);
napi_status napi_get_typedarray_info(napi_env, napi_value, int *type, size_t *length, void **data,
                                     napi_value *buffer, size_t *offset);
napi_status napi_get_undefined(napi_env, napi_value *);
napi_status napi_get_global(napi_env, napi_value *);
napi_status napi_create_int32(napi_env, int32_t, napi_value *);
napi_status napi_create_array_with_length(napi_env, size_t, napi_value *);
napi_status napi_set_element(napi_env, napi_value object, uint32_t index, napi_value value);
napi_status napi_create_external(napi_env, void *data, napi_finalize, void *hint, napi_value *);
napi_status napi_create_external_arraybuffer(napi_env, void *data, size_t length, napi_finalize, void *hint,
                                             napi_value *);
napi_status napi_get_arraybuffer_info(napi_env, napi_value, void **data, size_t *length);
napi_status napi_create_reference(napi_env, napi_value, uint32_t count, napi_ref *);
napi_status napi_delete_reference(napi_env, napi_ref);
napi_status napi_get_reference_value(napi_env, napi_ref, napi_value *);
napi_status napi_open_handle_scope(napi_env, napi_handle_scope *);
napi_status napi_close_handle_scope(napi_env, napi_handle_scope);
napi_status napi_make_callback(napi_env, napi_async_context, napi_value self, napi_value function, size_t argc,
                               const napi_value *argv, napi_value *result);
napi_status napi_get_and_clear_last_exception(napi_env, napi_value *);
napi_status napi_fatal_exception(napi_env, napi_value);
napi_status napi_throw_error(napi_env, const char *code, const char *message);
napi_status napi_throw_type_error(napi_env, const char *code, const char *message);
napi_status napi_create_string_utf8(napi_env, const char *, size_t length, napi_value *);
napi_status napi_create_promise(napi_env, napi_deferred *, napi_value *promise);
napi_status napi_resolve_deferred(napi_env, napi_deferred, napi_value);
napi_status napi_create_async_work(napi_env, napi_value resource, napi_value name, napi_async_execute_callback,
                                   napi_async_complete_callback, void *data, napi_async_work *);
napi_status napi_queue_async_work(napi_env, napi_async_work);
napi_status napi_delete_async_work(napi_env, napi_async_work);
napi_status napi_add_async_cleanup_hook(napi_env, napi_async_cleanup_hook, void *data,
                                        napi_async_cleanup_hook_handle *);
napi_status napi_remove_async_cleanup_hook(napi_async_cleanup_hook_handle);

typedef struct uv_loop_s uv_loop_t;
typedef struct uv_handle_s uv_handle_t;
typedef struct uv_poll_s uv_poll_t;
enum { UV_READABLE = 1, UV_POLL = 8 };

napi_status napi_get_uv_event_loop(napi_env, uv_loop_t **);
size_t uv_handle_size(int type);
int uv_poll_init(uv_loop_t *, uv_poll_t *, int fd);
int uv_poll_start(uv_poll_t *, int events, void (*)(uv_poll_t *, int status, int events));
int uv_poll_stop(uv_poll_t *);
void uv_close(uv_handle_t *, void (*)(uv_handle_t *));

#define NAPI_AUTO_LENGTH ((size_t)-1)
enum { napi_uint8_array = 1 };

#endif
