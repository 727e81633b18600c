// The single executable, in a root directory with the C library, a shell and nothing else: no Node, no npm, no PATH of ours.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { root } from './machine.ts'

const made = join(root, 'packages/cli/dist/executable')
/** Building it takes minutes. */
const isSoak = process.env['CAIRN_RUNS'] !== undefined
const own = `linux-${process.arch}`
const noArm64 = ['qemu-aarch64-static', 'debootstrap'].some(
  (tool) => spawnSync(tool, ['--version']).error !== undefined,
)

describe.skipIf(!isSoak)('single executable (needs npm run test:soak)', () => {
  let machine = ''

  beforeAll(() => {
    machine = mkdtempSync(join(tmpdir(), 'cairn-machine-'))
    build(own)
    for (const folder of ['bin', 'proc', 'dev', 'tmp', 'root']) mkdirSync(join(machine, folder))
    install(join(made, `cairn-${own}`), '/bin/cairn')
    for (const tool of ['sh', 'cat', 'ls']) install(`/bin/${tool}`, `/bin/${tool}`)
  }, 1_800_000)
  afterAll(() => rmSync(machine, { recursive: true, force: true }))

  function build(...targets: string[]): void {
    execFileSync('npm', ['run', 'build:executable', '--', ...targets], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
  }

  /** With the libraries that it is linked with. */
  function install(path: string, as: string): void {
    const place = (target: string): string => {
      mkdirSync(dirname(join(machine, target)), { recursive: true })
      return join(machine, target)
    }
    copyFileSync(path, place(as))
    chmodSync(place(as), 0o755)
    const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' })
    for (const [library] of stdout.matchAll(/\/lib\S+/g)) copyFileSync(library, place(library))
  }

  /** Its processes end with it, and so do its mounts. */
  function onMachine(script: string): { stdout: string; stderr: string } {
    writeFileSync(join(machine, 'script'), script)
    const enter = `ip link set lo up && mount --rbind /dev ${machine}/dev && exec env -i HOME=/root PATH=/bin "$(command -v chroot)" ${machine} /bin/sh /script`
    const words = ['-m', '-p', '-n', '-f', `--mount-proc=${machine}/proc`, 'sh', '-c', enter]
    const { stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8', timeout: 120_000 })
    return { stdout, stderr }
  }

  it.skipIf(noMount)(
    'serves, mounts, searches and runs commands without Node on the machine',
    () => {
      const script = `
        cairn up /root/work --listen 127.0.0.1:0 >/dev/null
        echo hello > /root/work/a
        cairn fs cat :/a
        cairn fs grep hello :/
        cairn exec --commit -- sh -c 'echo made > b' >/dev/null
        cairn fs cat :/b
        cairn down >/dev/null
        cairn up /root/work --listen 127.0.0.1:0 >/dev/null
        cat /root/work/a
        cairn down >/dev/null`
      const { stdout, stderr } = onMachine(script)
      expect({ stdout, stderr }).toEqual({
        stdout: 'hello\n/a:1:1:hello\nmade\nhello\n',
        stderr: expect.not.stringContaining('cannot'),
      })
    },
    300_000,
  )

  const cache = (): string => join(machine, 'root/.cache/cairn')

  it('unpacks for its user alone, and again what was damaged', () => {
    onMachine('cairn --version')
    const names = readdirSync(cache()).filter((name) => name.startsWith('program-'))
    expect(names).toHaveLength(1)
    const home = join(cache(), names[0]!)
    const native = readdirSync(home).find((name) => name.startsWith('fuseio-'))!
    const before = readFileSync(join(home, native))
    appendFileSync(join(home, native), 'x')
    expect(onMachine('ls -ld /root/.cache/cairn/program-*; cairn --version').stdout).toMatch(
      /^drwx------ .*\n\d+\.\d+\.\d+\n$/,
    )
    expect(readFileSync(join(home, native))).toEqual(before)
    expect(readdirSync(cache()).filter((name) => name.startsWith('program-'))).toEqual(names)
  }, 120_000)

  it('runs nothing from a directory that others may write to', () => {
    chmodSync(cache(), 0o777)
    const { stdout } = onMachine('cairn --version; ls /tmp')
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\ncairn-0\n$/)
  }, 120_000)

  it('a single executable is made for arm64, too', () => {
    execFileSync('npm', ['run', 'build:native'], { cwd: root, stdio: 'ignore' })
    build('linux-arm64')
    const bytes = readFileSync(join(made, 'cairn-linux-arm64'))
    const aarch64 = 183
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('\x7fELF')
    expect(bytes.readUInt16LE(18)).toBe(aarch64)
    expect(bytes.includes('NODE_SEA_BLOB')).toBe(true)
    expect(bytes.includes('fuseio-linux-arm64-glibc.node')).toBe(true)
  }, 1_800_000)

  it.skipIf(noArm64 || noMount)(
    'serves and mounts on arm64, as qemu emulates it (needs qemu-user-static and debootstrap)',
    async () => {
      const debian = join(machine, 'arm64')
      const words = ['--foreign', '--arch=arm64', '--variant=minbase', 'bookworm', debian]
      execFileSync('debootstrap', words, { stdio: 'ignore' })
      const arm64 = ['-L', debian, join(made, 'cairn-linux-arm64')]
      const data = join(machine, 'data')
      const env = { PATH: process.env['PATH'], HOME: machine }
      const serve = [...arm64, 'serve', '--data', data, '--listen', '127.0.0.1:0']
      const server = spawn('qemu-aarch64-static', serve, {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const [line] = (await once(server.stdout!, 'data')) as [Buffer]
        const [url = ''] = /http:\S+\d/.exec(String(line)) ?? []
        const key = readFileSync(join(data, 'owner-key'), 'utf8').trim()
        const doctor = spawnSync('qemu-aarch64-static', [...arm64, 'doctor'], {
          env: { ...env, CAIRN_SERVER: url, CAIRN_API_KEY: key },
          encoding: 'utf8',
        })
        expect(doctor.stdout).toMatch(/^ok +transport +.*fuseio-linux-arm64-glibc\.node$/m)
        expect(doctor.stdout).toMatch(/^ok +kernel +mounts/m)
        expect(doctor.stdout).toMatch(/^ok +server/m)
      } finally {
        server.kill()
      }
    },
    1_800_000,
  )
})
