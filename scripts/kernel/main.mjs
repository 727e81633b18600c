// The mount's short suite inside Debian's Linux 6.1, the kernel of E2B's machines: `npm run test:kernel`.
// Arguments are test files in place of the whole suite.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { aptInstall, install } from '../install.mjs'
import { mountShortSuite } from '../mount-short-suite.mjs'
import { modules, run } from '../run.mjs'
import { makeGuest } from './guest.mjs'

const packages = {
  'qemu-system-x86': '/usr/bin/qemu-system-x86_64',
  'busybox-static': '/bin/busybox',
  debootstrap: '/usr/sbin/debootstrap',
}

install()
aptInstall(Object.entries(packages).flatMap(([name, file]) => (existsSync(file) ? [] : [name])))
// The guest has no compiler.
for (const name of ['mount', 'sandbox']) run('node', [`packages/${name}/native/build.mjs`])
const files = process.argv.length > 2 ? process.argv.slice(2) : mountShortSuite
const patterns = files.map((each) => each.replace('/*.test.ts', '/'))
// Every instruction is translated, so the guest is some twenty times slower than the machine.
const vitest = `CAIRN_TEST_HOOK_MS=1200000 vitest run --project=cairn --reporter=verbose --maxWorkers=1 --testTimeout=1200000 ${patterns.join(' ')}`
process.exitCode = await start(makeGuest(vitest))

/**
 * @param {{ kernel: string, initrd: string, disk: string }} guest
 * @returns {Promise<number>} the exit code of what ran inside
 */
async function start({ kernel, initrd, disk }) {
  const args = ['-nographic', '-no-reboot', '-m', '4G', '-smp', '2', '-cpu', 'max', '-net', 'none']
  const boot = ['-kernel', kernel, '-initrd', initrd, '-append', 'console=ttyS0 quiet panic=-1']
  const drive = ['-drive', `file=${disk},format=raw,if=virtio,cache=unsafe`]
  // Never KVM: inside a virtual machine it may be there and not work.
  const accelerator = ['-accel', 'tcg,thread=multi']
  const qemu = spawn('qemu-system-x86_64', [...accelerator, ...args, ...boot, ...drive], {
    cwd: modules,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let code = 1
  for await (const line of createInterface(qemu.stdout)) {
    console.log(line)
    const told = /guest exit (\d+)/.exec(line)
    if (told !== null) code = Number(told[1])
  }
  return code
}
