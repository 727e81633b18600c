import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { say, useJails } from '../sandbox/jail-fixture.ts'
import { noJail } from '../sandbox/local-setup.ts'

/** Numbers of system calls on x86-64 and arm64. */
const calls: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  init_module: [175, 105],
  finit_module: [313, 273],
  kexec_load: [246, 104],
  open_by_handle_at: [304, 265],
  syslog: [103, 116],
  swapon: [167, 224],
  io_uring_setup: [425, 425],
}
const families = { AF_VSOCK: 40, AF_ALG: 38, AF_RDS: 21, AF_TIPC: 30, AF_BLUETOOTH: 31 }

/** Prints the errno that each call gives, as a line of JSON. */
function script(): string {
  const numbers = Object.entries(calls).map(([name, [x64, arm64]]) => [
    name,
    process.arch === 'arm64' ? arm64 : x64,
  ])
  return `
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in ${JSON.stringify(numbers)}:
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0, 0, 0, 0)
    found[name] = ctypes.get_errno()
for name, family in ${JSON.stringify(families)}.items():
    ctypes.set_errno(0)
    libc.socket(family, 1, 0)
    found[name] = ctypes.get_errno()
for family in [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6]:
    socket.socket(family, socket.SOCK_STREAM).close()
socket.socketpair()
print(json.dumps(found))`
}

describe.skipIf(noJail !== undefined)(`root in a jail (${noJail ?? 'as root'})`, () => {
  const jails = useJails()

  it('gets no sockets to the hypervisor or into the kernel, and no calls that reach the machine', async () => {
    const jail = await jails.make()
    for (const user of ['root', 'user']) {
      const { text } = await say(jail, `python3 - <<'END'\n${script()}\nEND`, user)
      const [eperm, enosys, eafnosupport] = [1, 38, 97]
      const denied = Object.keys(calls).map((name) => [name, eperm])
      const unknown = Object.keys(families).map((name) => [name, eafnosupport])
      expect(JSON.parse(text)).toEqual({
        ...Object.fromEntries([...denied, ...unknown]),
        io_uring_setup: enosys,
      })
    }
  })

  it('sees no path of the host in its mounts', async () => {
    const jail = await jails.make()
    const { text } = await say(jail, 'cat /proc/self/mountinfo /proc/1/mountinfo', 'root')
    expect(text).toContain(' /proc/sys/kernel/random/boot_id ')
    expect(text).not.toContain(jails.directory)
    expect(text).not.toContain(jail.id)
  })

  it('root in a jail is gone soon after the kill, however busy, even where only we reap its processes', async () => {
    const jail = await jails.make()
    for (let count = 0; count < 3; count++) {
      const busy = await jail.start({ args: ['sh', '-c', 'sleep 999 & while :; do :; done'] })
      busy.stdout.resume()
      busy.stderr.resume()
    }
    const held = await jail.start({ args: ['sleep', '999'] })
    await jail.kill()
    expect(await held.exit).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('root in a jail is gone after the kill in a container whose first process is Node', async () => {
    const program = new URL('./kill-as-first.ts', import.meta.url).pathname
    const node = [process.execPath, '--conditions=source', program, jails.directory]
    const ran = promisify(execFile)('unshare', ['--pid', '--fork', '--mount-proc', ...node])
    expect((await ran).stdout).toBe('killed by process 1\n')
  })
})
