/* What every function that JavaScript calls needs. */
#ifndef CAIRN_JS_H
#define CAIRN_JS_H

#include "napi.h"

static inline napi_value number(napi_env env, int64_t value) {
  napi_value result;
  napi_create_int32(env, (int32_t)value, &result);
  return result;
}

static inline bool arguments(napi_env env, napi_callback_info info, size_t wanted, napi_value *argv) {
  size_t count = wanted;
  if (napi_get_cb_info(env, info, &count, argv, NULL, NULL) == napi_ok && count >= wanted) return true;
  napi_throw_type_error(env, NULL, "fuseio: too few arguments");
  return false;
}

#endif
