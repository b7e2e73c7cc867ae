// Becomes hone-worker, with its memory somewhere else each time: for tests that no result hangs on
// addresses. (Workers are started with theirs fixed.)
#include <sys/personality.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "wire/worker_process.h"

int main(int, char** argv) {
  const int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) & ~ADDR_NO_RANDOMIZE);
  const std::string worker = hone::wire::FindWorker();
  argv[0] = const_cast<char*>(worker.c_str());
  execv(argv[0], argv);
  std::perror(argv[0]);
  return 2;
}
