/* Files that are memory: see mapped-file.c. */
#ifndef CAIRN_MAPPED_FILE_H
#define CAIRN_MAPPED_FILE_H

#include "napi.h"

napi_value js_open_memory(napi_env, napi_callback_info);
napi_value js_map_file(napi_env, napi_callback_info);
napi_value js_map_file_later(napi_env, napi_callback_info);
napi_value js_leave_file(napi_env, napi_callback_info);

#endif
