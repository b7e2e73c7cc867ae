// A PJRT plugin that computes nothing and fails on demand: its executables return their first
// input, with 1 added to the first byte of it where the compile options mention "wrong".
//
// The client's option "fail" says what goes wrong: "stall" is never done, "create" and "compile"
// return an error, "full" one of memory, "abort" and "hang" do so while compiling, "run" fails in
// the event of a run, "escape" where a file can be read while compiling, on a thread that ran before.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xla/pjrt/c/pjrt_c_api.h"

#ifndef FAKE_MINOR
#define FAKE_MINOR PJRT_API_MINOR
#endif

#ifndef FAKE_PLATFORM
#define FAKE_PLATFORM "fake"
#endif

struct PJRT_Error {
  PJRT_Error_Code code;
  const char* message;
};
struct PJRT_Event {
  PJRT_Error* error;
};
struct PJRT_DeviceDescription {
  int unused;
};
struct PJRT_Device {
  PJRT_DeviceDescription description;
};
struct PJRT_Client {
  char fail[16];
  PJRT_Device device;
  PJRT_Device* devices[1];
};
struct PJRT_Executable {
  int unused;
};
struct PJRT_LoadedExecutable {
  PJRT_Client* client;
  int wrong;
};
struct PJRT_Buffer {
  PJRT_Buffer_Type type;
  size_t num_dims;
  int64_t dims[8];
  size_t size;
  char* bytes;
};

static PJRT_Client client;

static PJRT_Error* NewError(PJRT_Error_Code code, const char* message) {
  PJRT_Error* error = malloc(sizeof(PJRT_Error));
  error->code = code;
  error->message = message;
  return error;
}

static PJRT_Event* NewEvent(PJRT_Error* error) {
  PJRT_Event* event = malloc(sizeof(PJRT_Event));
  event->error = error;
  return event;
}

static int Fails(const char* how) { return strcmp(client.fail, how) == 0; }

static void ErrorDestroy(PJRT_Error_Destroy_Args* args) { free(args->error); }

static void ErrorMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static PJRT_Error* ErrorGetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return NULL;
}

static PJRT_Error* EventAwait(PJRT_Event_Await_Args* args) {
  PJRT_Error* error = args->event->error;
  args->event->error = NULL;
  return error;
}

static PJRT_Error* EventDestroy(PJRT_Event_Destroy_Args* args) {
  free(args->event);
  return NULL;
}

// A thread from before the client was there, which reads a file when it is told to.
static int to_thread[2], from_thread[2];

static void* Reader(void* unused) {
  char byte;
  while (read(to_thread[0], &byte, 1) == 1) {
    byte = (char)(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
    if (write(from_thread[1], &byte, 1) != 1) break;
  }
  return unused;
}

static int CanRead(void) {
  char byte = 1;
  if (write(to_thread[1], &byte, 1) != 1 || read(from_thread[0], &byte, 1) != 1) return 1;
  return byte;
}

static PJRT_Error* ClientCreate(PJRT_Client_Create_Args* args) {
  for (size_t i = 0; i < args->num_options; ++i) {
    const PJRT_NamedValue* option = &args->create_options[i];
    if (option->name_size != 4 || memcmp(option->name, "fail", 4) != 0) {
      return NewError(PJRT_Error_Code_INVALID_ARGUMENT, "there is no such option");
    }
    if (option->type != PJRT_NamedValue_kString || option->value_size >= sizeof(client.fail)) {
      return NewError(PJRT_Error_Code_INVALID_ARGUMENT, "fail takes a short text");
    }
    memcpy(client.fail, option->string_value, option->value_size);
  }
  while (Fails("stall")) sleep(1);
  if (Fails("create")) return NewError(PJRT_Error_Code_UNAVAILABLE, "there is no such hardware");
  pthread_t reader;
  if (Fails("escape") && (pipe(to_thread) != 0 || pipe(from_thread) != 0 ||
                          pthread_create(&reader, NULL, Reader, NULL) != 0)) {
    return NewError(PJRT_Error_Code_INTERNAL, "there is no thread");
  }
  client.devices[0] = &client.device;
  args->client = &client;
  return NULL;
}

static PJRT_Error* PlatformName(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = FAKE_PLATFORM;
  args->platform_name_size = strlen(FAKE_PLATFORM);
  return NULL;
}

static PJRT_Error* PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = "of no use";
  args->platform_version_size = 9;
  return NULL;
}

static PJRT_Error* AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = client.devices;
  args->num_addressable_devices = 1;
  return NULL;
}

static PJRT_Error* GetDescription(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return NULL;
}

static PJRT_Error* DescriptionId(PJRT_DeviceDescription_Id_Args* args) {
  args->id = 7;
  return NULL;
}

static PJRT_Error* DescriptionKind(PJRT_DeviceDescription_Kind_Args* args) {
  args->device_kind = "paper";
  args->device_kind_size = 5;
  return NULL;
}

static int Mentions(const char* text, size_t size, const char* word) {
  const size_t length = strlen(word);
  for (size_t i = 0; i + length <= size; ++i) {
    if (memcmp(text + i, word, length) == 0) return 1;
  }
  return 0;
}

static PJRT_Error* Compile(PJRT_Client_Compile_Args* args) {
  if (Fails("compile")) return NewError(PJRT_Error_Code_UNIMPLEMENTED, "it is only a fake");
  if (Fails("full")) return NewError(PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of paper");
  if (Fails("escape") && CanRead()) return NewError(PJRT_Error_Code_INTERNAL, "it got out");
  if (Fails("abort")) abort();
  while (Fails("hang")) sleep(1);
  PJRT_LoadedExecutable* executable = malloc(sizeof(PJRT_LoadedExecutable));
  executable->client = args->client;
  executable->wrong = Mentions(args->compile_options, args->compile_options_size, "wrong");
  args->executable = executable;
  return NULL;
}

static PJRT_Error* GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  args->executable = malloc(sizeof(PJRT_Executable));
  return NULL;
}

static PJRT_Error* NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = 1;
  return NULL;
}

static PJRT_Error* ExecutableDestroy(PJRT_Executable_Destroy_Args* args) {
  free(args->executable);
  return NULL;
}

static PJRT_Error* LoadedDestroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  free(args->executable);
  return NULL;
}

static PJRT_Error* FromHost(PJRT_Client_BufferFromHostBuffer_Args* args) {
  static const size_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  PJRT_Buffer* buffer = malloc(sizeof(PJRT_Buffer));
  buffer->type = args->type;
  buffer->num_dims = args->num_dims;
  buffer->size = kSizes[args->type];
  for (size_t i = 0; i < args->num_dims; ++i) {
    buffer->dims[i] = args->dims[i];
    buffer->size *= (size_t)args->dims[i];
  }
  buffer->bytes = malloc(buffer->size);
  memcpy(buffer->bytes, args->data, buffer->size);
  args->buffer = buffer;
  args->done_with_host_buffer = NewEvent(NULL);
  return NULL;
}

static PJRT_Error* BufferDestroy(PJRT_Buffer_Destroy_Args* args) {
  free(args->buffer->bytes);
  free(args->buffer);
  return NULL;
}

static PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  const PJRT_Buffer* input = args->argument_lists[0][0];
  PJRT_Buffer* output = malloc(sizeof(PJRT_Buffer));
  *output = *input;
  output->bytes = malloc(input->size);
  memcpy(output->bytes, input->bytes, input->size);
  if (args->executable->wrong && input->size > 0) ++output->bytes[0];
  args->output_lists[0][0] = output;
  args->device_complete_events[0] =
      NewEvent(Fails("run") ? NewError(PJRT_Error_Code_INTERNAL, "the paper tore") : NULL);
  return NULL;
}

static PJRT_Error* BufferType(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type;
  return NULL;
}

static PJRT_Error* BufferDimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->dims;
  args->num_dims = args->buffer->num_dims;
  return NULL;
}

static PJRT_Error* ToHost(PJRT_Buffer_ToHostBuffer_Args* args) {
  if (args->dst == NULL) {
    args->dst_size = args->src->size;
    return NULL;
  }
  memcpy(args->dst, args->src->bytes, args->src->size);
  args->event = NewEvent(NULL);
  return NULL;
}

static PJRT_Error* ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  args->event = NewEvent(NULL);
  return NULL;
}

static const PJRT_Api kApi = {
    .struct_size = PJRT_Api_STRUCT_SIZE,
    .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                         .major_version = PJRT_API_MAJOR,
                         .minor_version = FAKE_MINOR},
    .PJRT_Error_Destroy = ErrorDestroy,
    .PJRT_Error_Message = ErrorMessage,
    .PJRT_Error_GetCode = ErrorGetCode,
    .PJRT_Event_Await = EventAwait,
    .PJRT_Event_Destroy = EventDestroy,
    .PJRT_Client_Create = ClientCreate,
    .PJRT_Client_PlatformName = PlatformName,
    .PJRT_Client_PlatformVersion = PlatformVersion,
    .PJRT_Client_AddressableDevices = AddressableDevices,
    .PJRT_Client_Compile = Compile,
    .PJRT_Client_BufferFromHostBuffer = FromHost,
    .PJRT_DeviceDescription_Id = DescriptionId,
    .PJRT_DeviceDescription_Kind = DescriptionKind,
    .PJRT_Device_GetDescription = GetDescription,
    .PJRT_Executable_Destroy = ExecutableDestroy,
    .PJRT_Executable_NumOutputs = NumOutputs,
    .PJRT_LoadedExecutable_Destroy = LoadedDestroy,
    .PJRT_LoadedExecutable_GetExecutable = GetExecutable,
    .PJRT_LoadedExecutable_Execute = Execute,
    .PJRT_Buffer_Destroy = BufferDestroy,
    .PJRT_Buffer_ElementType = BufferType,
    .PJRT_Buffer_Dimensions = BufferDimensions,
    .PJRT_Buffer_ToHostBuffer = ToHost,
#ifndef FAKE_WITHOUT_READY_EVENT
    .PJRT_Buffer_ReadyEvent = ReadyEvent,
#endif
};

const PJRT_Api* GetPjrtApi(void) {
#ifdef FAKE_WITHOUT_READY_EVENT
  (void)ReadyEvent;
#endif
  return &kApi;
}
