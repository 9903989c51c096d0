/* A preload for linux.uml 6.1 on processors with more registers than it knows of.
 *
 * It keeps the floating-point state of a guest's thread in 2696 bytes, which end with AVX-512. Where there is AMX, too,
 * the state is longer (11008 bytes), and the host's kernel refuses to set a part of it: UML panics as soon as its first
 * process starts, with "ptrace set fp regs failed, errno = 14". Here the rest is added: zeros, that is, unused, which is
 * true, since a guest's programs cannot get leave to use AMX.
 *
 * All calls come from one thread, whose stack is too small for a state.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static long (*real)(int, ...);
static char whole[1 << 16];
static size_t size;

__attribute__((constructor)) static void find_real(void) { real = dlsym(RTLD_NEXT, "ptrace"); }

static void learn_size(int pid) {
  struct iovec all = {whole, sizeof whole};
  if (real(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all) == 0) size = all.iov_len;
  memset(whole, 0, sizeof whole);
}

static long set_state(int pid, struct iovec *part) {
  if (size == 0) learn_size(pid);
  if (part->iov_len >= size) return real(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, part);
  memcpy(whole, part->iov_base, part->iov_len);
  struct iovec all = {whole, size};
  return real(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list given;
  va_start(given, request);
  int pid = va_arg(given, int);
  void *address = va_arg(given, void *), *data = va_arg(given, void *);
  va_end(given);
  if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE) return set_state(pid, data);
  return real(request, pid, address, data);
}
