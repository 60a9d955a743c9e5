/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The functions of libreceiptkit for index.js, which checks and explains more. Nothing here is shared by instances: each
 * worker has its own.
 */

#define NAPI_VERSION 8
#include <dlfcn.h>
#include <node_api.h>
#include <receiptkit.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(name) __typeof__(receiptkit_##name) *name
typedef struct functions {
  FUNCTION(abi_version);
  FUNCTION(version);
  FUNCTION(verifier_create);
  FUNCTION(verify);
  FUNCTION(verify_batch);
  FUNCTION(payload);
  FUNCTION(inspect);
  FUNCTION(signer_create);
  FUNCTION(sign);
  FUNCTION(check_proof);
  FUNCTION(handle_free);
  FUNCTION(text_free);
} functions;

/* What one instance of the module has. */
typedef struct instance {
  bool is_loaded;
  functions library;
} instance;

/* The verifier or signer that an object of JavaScript has. */
typedef struct box {
  receiptkit_handle handle;
  __typeof__(receiptkit_handle_free) *handle_free;
} box;

/* Which objects have one: others cannot be taken for it. */
static const napi_type_tag BOX_TAG = {0x52a8be10f2b94d7cULL, 0x9d0c6e1f3a574b82ULL};

typedef enum operation { VERIFY, PAYLOAD, BATCH, SIGN, INSPECT, CHECK_PROOF, VERSION, OPERATION_COUNT } operation;

/* A piece of memory: borrowed while JavaScript waits, owned otherwise. */
typedef struct piece {
  void *bytes;
  size_t length;
  bool is_owned;
} piece;

/* A call of the library. It has all that another thread needs, which must not ask JavaScript. */
typedef struct call {
  functions library;
  operation operation;
  receiptkit_handle handle;
  piece first;
  piece second;
  uint32_t options;
  int32_t status;
  receiptkit_text text;
  uint8_t *statuses;
  napi_ref kept;
  napi_deferred deferred;
  napi_async_work work;
} call;

static napi_value throw_type(napi_env env, const char *message) {
  napi_throw_type_error(env, NULL, message);
  return NULL;
}

/* What a function of Node-API failed with, unless an exception of JavaScript is on its way. */
static napi_value throw_failure(napi_env env) {
  const napi_extended_error_info *found = NULL;
  const char *message = "A function of Node-API failed.";
  if (napi_get_last_error_info(env, &found) == napi_ok && found != NULL && found->error_message != NULL) {
    message = found->error_message;
  }
  bool is_pending = false;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending) napi_throw_error(env, NULL, message);
  return NULL;
}

static void free_call(napi_env env, call *call) {
  if (call == NULL) return;
  if (call->library.text_free != NULL) call->library.text_free(&call->text);
  if (call->first.is_owned) free(call->first.bytes);
  if (call->second.is_owned) free(call->second.bytes);
  free(call->statuses);
  if (call->kept != NULL) napi_delete_reference(env, call->kept);
  if (call->work != NULL) napi_delete_async_work(env, call->work);
  free(call);
}

static bool get_string(napi_env env, napi_value value, piece *piece) {
  napi_valuetype type;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_string) return false;
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return false;
  piece->bytes = malloc(length + 1);
  if (piece->bytes == NULL) return false;
  piece->is_owned = true;
  return napi_get_value_string_utf8(env, value, piece->bytes, length + 1, &piece->length) == napi_ok;
}

/* The bytes of a typed array. */
static bool get_bytes(napi_env env, napi_value value, napi_typedarray_type expected, bool is_copied, piece *piece) {
  bool is_array = false;
  if (napi_is_typedarray(env, value, &is_array) != napi_ok || !is_array) return false;
  napi_typedarray_type type;
  size_t count = 0;
  void *bytes = NULL;
  if (napi_get_typedarray_info(env, value, &type, &count, &bytes, NULL, NULL) != napi_ok || type != expected) return false;
  piece->length = count * (expected == napi_biguint64_array ? sizeof(uint64_t) : 1);
  if (!is_copied || piece->length == 0) {
    piece->bytes = piece->length == 0 ? NULL : bytes;
    return true;
  }
  piece->bytes = malloc(piece->length);
  if (piece->bytes == NULL) return false;
  piece->is_owned = true;
  memcpy(piece->bytes, bytes, piece->length);
  return true;
}

static box *get_box(napi_env env, napi_value value) {
  napi_valuetype type;
  bool is_ours = false;
  void *found = NULL;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_object) return NULL;
  if (napi_check_object_type_tag(env, value, &BOX_TAG, &is_ours) != napi_ok || !is_ours) return NULL;
  return napi_unwrap(env, value, &found) == napi_ok ? found : NULL;
}

static instance *get_loaded(napi_env env) {
  void *found = NULL;
  if (napi_get_instance_data(env, &found) != napi_ok || found == NULL || !((instance *)found)->is_loaded) {
    napi_throw_error(env, NULL, "The library is not loaded.");
    return NULL;
  }
  return found;
}

/* load(path): loads the library, and returns the version of its interface. */
static napi_value load(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument, result;
  void *data = NULL;
  piece path = {0};
  if (napi_get_cb_info(env, info, &count, &argument, NULL, &data) != napi_ok) return throw_failure(env);
  if (count < 1 || !get_string(env, argument, &path) || strlen(path.bytes) != path.length) {
    if (path.is_owned) free(path.bytes);
    return throw_type(env, "The path must be a string without NUL.");
  }
  void *library = dlopen(path.bytes, RTLD_NOW | RTLD_LOCAL);
  free(path.bytes);
  if (library == NULL) {
    napi_throw_error(env, NULL, dlerror());
    return NULL;
  }
  functions found = {0};
  bool has_all = true;
#define FIND(name) has_all = (*(void **)&found.name = dlsym(library, "receiptkit_" #name)) != NULL && has_all
  FIND(abi_version);
  FIND(version);
  FIND(verifier_create);
  FIND(verify);
  FIND(verify_batch);
  FIND(payload);
  FIND(inspect);
  FIND(signer_create);
  FIND(sign);
  FIND(check_proof);
  FIND(handle_free);
  FIND(text_free);
  uint32_t version = found.abi_version == NULL ? 0 : found.abi_version();
  if (!has_all || version != RECEIPTKIT_ABI_VERSION) {
    /* It stays in the process: it could have been there before. */
    napi_throw_error(env, NULL, "It is no libreceiptkit, or has another version of the interface than this package needs.");
    return NULL;
  }
  instance *instance = NULL;
  if (napi_get_instance_data(env, (void **)&instance) != napi_ok || instance == NULL) return throw_failure(env);
  instance->library = found;
  instance->is_loaded = true;
  return napi_create_uint32(env, version, &result) == napi_ok ? result : throw_failure(env);
}

static void free_box(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  box *box = data;
  if (box->handle != 0) box->handle_free(box->handle);
  free(box);
}

/* [status, text] and, of a batch, the statuses. */
static napi_value result_of(napi_env env, const call *call) {
  napi_value result, status, text, statuses;
  const char *bytes = call->text.bytes == NULL ? "" : call->text.bytes;
  if (napi_create_array_with_length(env, 2, &result) != napi_ok) return NULL;
  if (napi_create_int32(env, call->status, &status) != napi_ok) return NULL;
  if (napi_create_string_utf8(env, bytes, call->text.length, &text) != napi_ok) return NULL;
  if (napi_set_element(env, result, 0, status) != napi_ok || napi_set_element(env, result, 1, text) != napi_ok) return NULL;
  if (call->operation == BATCH) {
    size_t count = call->second.length / sizeof(uint64_t) - 1;
    if (napi_create_buffer_copy(env, count, call->statuses, NULL, &statuses) != napi_ok) return NULL;
    if (napi_set_element(env, result, 2, statuses) != napi_ok) return NULL;
  }
  return result;
}

/* create(isSigner, document): [status, text] of a failure, or an object that has the verifier or signer. */
static napi_value create(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value arguments[2], object = NULL;
  bool is_signer = false;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok) return throw_failure(env);
  instance *instance = get_loaded(env);
  if (instance == NULL) return NULL;
  call *made = calloc(1, sizeof *made);
  box *kept = calloc(1, sizeof *kept);
  if (made == NULL || kept == NULL) goto no_memory;
  made->library = instance->library;
  made->operation = VERSION;
  kept->handle_free = instance->library.handle_free;
  if (count < 2 || napi_get_value_bool(env, arguments[0], &is_signer) != napi_ok ||
      !get_string(env, arguments[1], &made->first)) {
    throw_type(env, "create takes a Boolean and a string.");
    goto failed;
  }
  made->status = (is_signer ? made->library.signer_create : made->library.verifier_create)(
      made->first.bytes, made->first.length, &kept->handle, &made->text);
  if (made->status != RECEIPTKIT_VALID) {
    object = result_of(env, made);
    if (object == NULL) throw_failure(env);
    goto failed;
  }
  if (napi_create_object(env, &object) != napi_ok || napi_type_tag_object(env, object, &BOX_TAG) != napi_ok ||
      napi_wrap(env, object, kept, free_box, NULL, NULL) != napi_ok) {
    object = throw_failure(env);
    goto failed;
  }
  free_call(env, made);
  return object;

no_memory:
  napi_throw_error(env, NULL, "There is no memory.");
failed:
  if (kept != NULL && kept->handle != 0) kept->handle_free(kept->handle);
  free(kept);
  free_call(env, made);
  return object;
}

/* close(object): frees its verifier or signer. A second call does nothing. */
static napi_value close_box(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok) return throw_failure(env);
  box *box = count < 1 ? NULL : get_box(env, argument);
  if (box == NULL) return throw_type(env, "close takes what create returned.");
  receiptkit_handle handle = box->handle;
  box->handle = 0;
  if (handle != 0) box->handle_free(handle);
  return NULL;
}

/* Makes the call, on any thread. */
static void run(napi_env env, void *data) {
  (void)env;
  call *call = data;
  const functions *library = &call->library;
  const piece *first = &call->first, *second = &call->second;
  switch (call->operation) {
    case VERIFY:
      call->status = library->verify(call->handle, first->bytes, first->length, &call->text);
      break;
    case PAYLOAD:
      call->status = library->payload(call->handle, first->bytes, first->length, &call->text);
      break;
    case BATCH:
      call->status = library->verify_batch(
          call->handle, first->bytes, second->bytes, second->length / sizeof(uint64_t) - 1, call->statuses, &call->text);
      break;
    case SIGN:
      call->status = library->sign(call->handle, first->bytes, first->length, &call->text);
      break;
    case INSPECT:
      call->status = library->inspect(first->bytes, first->length, call->options, &call->text);
      break;
    case CHECK_PROOF:
      call->status = library->check_proof(first->bytes, first->length, second->bytes, second->length, &call->text);
      break;
    case VERSION:
    default:
      call->status = library->version(&call->text);
  }
}

/* Settles the promise. JavaScript may have been ended meanwhile: then nobody waits, and all the same everything is freed. */
static void complete(napi_env env, napi_status status, void *data) {
  call *call = data;
  napi_value result = status == napi_ok ? result_of(env, call) : NULL;
  if (result != NULL) {
    napi_resolve_deferred(env, call->deferred, result);
  } else {
    napi_value message, error, pending;
    bool is_pending = false;
    if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending) {
      napi_get_and_clear_last_exception(env, &pending);
    }
    if (napi_create_string_utf8(env, "The call was not made.", NAPI_AUTO_LENGTH, &message) == napi_ok &&
        napi_create_error(env, NULL, message, &error) == napi_ok) {
      napi_reject_deferred(env, call->deferred, error);
    }
  }
  free_call(env, call);
}

/* Reads the arguments of an operation into a call, or throws. */
static bool read_arguments(napi_env env, call *call, bool is_async, const napi_value *arguments) {
  if (call->operation <= SIGN) {
    box *box = get_box(env, arguments[2]);
    if (box == NULL) {
      throw_type(env, "The verifier or signer must be what create returned.");
      return false;
    }
    call->handle = box->handle;
    /* The garbage collector must not free it before the other thread uses it. */
    if (is_async && napi_create_reference(env, arguments[2], 1, &call->kept) != napi_ok) {
      throw_failure(env);
      return false;
    }
  }
  bool is_right = true;
  if (call->operation == SIGN) {
    is_right = get_string(env, arguments[3], &call->first);
  } else if (call->operation != VERSION) {
    is_right = get_bytes(env, arguments[3], napi_uint8_array, is_async, &call->first);
  }
  if (is_right && call->operation == CHECK_PROOF) is_right = get_string(env, arguments[4], &call->second);
  if (is_right && call->operation == INSPECT) is_right = napi_get_value_uint32(env, arguments[4], &call->options) == napi_ok;
  if (is_right && call->operation == BATCH) {
    /* Copied, so that what is checked is what the library reads. */
    is_right = get_bytes(env, arguments[4], napi_biguint64_array, true, &call->second);
    size_t count = call->second.length / sizeof(uint64_t);
    const uint64_t *offsets = call->second.bytes;
    is_right = is_right && count > 0 && offsets[count - 1] <= call->first.length;
    if (is_right) {
      call->statuses = calloc(count, 1);
      is_right = call->statuses != NULL;
      /* What the library does not write is no verdict. */
      if (is_right) memset(call->statuses, 0xff, count);
    }
  }
  if (!is_right) throw_type(env, "An argument has the wrong type, or there is no memory.");
  return is_right;
}

/* invoke(operation, isAsync, object, first, second): the result, or a promise of it. */
static napi_value invoke(napi_env env, napi_callback_info info) {
  size_t count = 5;
  napi_value arguments[5], result = NULL, name;
  uint32_t operation = 0;
  bool is_async = false;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok) return throw_failure(env);
  instance *instance = get_loaded(env);
  if (instance == NULL) return NULL;
  if (napi_get_value_uint32(env, arguments[0], &operation) != napi_ok || operation >= OPERATION_COUNT ||
      napi_get_value_bool(env, arguments[1], &is_async) != napi_ok) {
    return throw_type(env, "invoke takes the number of an operation and a Boolean.");
  }
  call *made = calloc(1, sizeof *made);
  if (made == NULL) {
    napi_throw_error(env, NULL, "There is no memory.");
    return NULL;
  }
  made->library = instance->library;
  made->operation = operation;
  if (!read_arguments(env, made, is_async, arguments)) {
    free_call(env, made);
    return NULL;
  }
  if (!is_async) {
    run(env, made);
    result = result_of(env, made);
    if (result == NULL) throw_failure(env);
    free_call(env, made);
    return result;
  }
  if (napi_create_string_utf8(env, "receiptkit", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_async_work(env, NULL, name, run, complete, made, &made->work) != napi_ok ||
      napi_create_promise(env, &made->deferred, &result) != napi_ok || napi_queue_async_work(env, made->work) != napi_ok) {
    throw_failure(env);
    free_call(env, made);
    return NULL;
  }
  return result;
}

static void free_instance(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  free(data);
}

NAPI_MODULE_INIT() {
  instance *created = calloc(1, sizeof *created);
  if (created == NULL || napi_set_instance_data(env, created, free_instance, NULL) != napi_ok) {
    free(created);
    return throw_failure(env);
  }
  const napi_property_descriptor properties[] = {
      {"load", NULL, load, NULL, NULL, NULL, napi_enumerable, NULL},
      {"create", NULL, create, NULL, NULL, NULL, napi_enumerable, NULL},
      {"close", NULL, close_box, NULL, NULL, NULL, napi_enumerable, NULL},
      {"invoke", NULL, invoke, NULL, NULL, NULL, napi_enumerable, NULL},
  };
  if (napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties) != napi_ok) {
    return throw_failure(env);
  }
  return exports;
}
