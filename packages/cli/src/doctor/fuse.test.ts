import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CairnError } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHelper, readSettings, tryDevice } from './facts.ts'
import { checkAllowOther, checkDevice, checkHelper, checkKernel } from './fuse.ts'

const isRoot = process.getuid?.() === 0

describe('the device', () => {
  it.each([
    ['ENOENT', 'there is no /dev/fuse', 'modprobe fuse'],
    ['ENODEV', 'no FUSE behind', 'modprobe fuse'],
    ['EACCES', 'this user may not', 'sudo chmod 666 /dev/fuse'],
    ['EPERM', 'this container may not', '--device /dev/fuse --cap-add SYS_ADMIN'],
    ['EIO', '/dev/fuse: EIO', 'dmesg'],
  ])('%s fails, and what fixes it is told', (code, says, fix) => {
    expect(checkDevice(code)).toEqual({
      name: 'device',
      state: 'fail',
      says: expect.stringContaining(says) as string,
      fix: expect.stringContaining(fix) as string,
    })
  })

  it('the device can be opened', () => {
    expect(checkDevice(undefined)).toMatchObject({ state: 'ok' })
    expect(tryDevice('/dev/null')).toBeUndefined()
    expect(tryDevice('/dev/no-such-device')).toBe('ENOENT')
  })
})

describe('fusermount3', () => {
  let place: string

  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'cairn-helper-'))
    for (const name of ['empty', 'bin']) mkdirSync(join(place, name))
    writeFileSync(join(place, 'bin/fusermount3'), '')
  })
  afterEach(() => rmSync(place, { recursive: true }))

  const check = (...names: string[]): ReturnType<typeof checkHelper> =>
    checkHelper(findHelper(names.map((name) => join(place, name)).join(':')))

  it('absent: fails, and what installs it is told', () => {
    expect(check('empty', 'nowhere')).toMatchObject({
      state: 'fail',
      fix: expect.stringContaining('apt-get install fuse3') as string,
    })
    expect(checkHelper(findHelper(undefined))).toMatchObject({ state: 'fail' })
  })

  it('fusermount3 without setuid: fails, and what gives it that is told', () => {
    const path = join(place, 'bin/fusermount3')
    chmodSync(path, 0o755)
    expect(check('empty', 'bin')).toMatchObject({
      state: 'fail',
      says: expect.stringContaining('not setuid root') as string,
      fix: `sudo chown root ${path} && sudo chmod 4755 ${path}`,
    })
  })

  it.skipIf(!isRoot)('a setuid fusermount3 that root does not own fails (needs root)', () => {
    const path = join(place, 'bin/fusermount3')
    chownSync(path, 65534, 65534)
    chmodSync(path, 0o4755)
    expect(check('bin')).toMatchObject({ state: 'fail' })
  })

  it.skipIf(!isRoot)('setuid root: fine (needs root)', () => {
    chmodSync(join(place, 'bin/fusermount3'), 0o4755)
    expect(check('empty', 'bin')).toMatchObject({ state: 'ok' })
  })
})

describe('allow_other', () => {
  it.each(['', '# user_allow_other\n', 'mount_max = 1000\n', 'user_allow_others\n'])(
    'not allowed by %j: a warning, and what allows it',
    (settings) => {
      expect(checkAllowOther(settings)).toMatchObject({
        state: 'warn',
        fix: 'echo user_allow_other | sudo tee -a /etc/fuse.conf',
      })
    },
  )

  it('allowed by its own line; without a file it is not', () => {
    expect(checkAllowOther('mount_max = 1000\n  user_allow_other \n')).toMatchObject({
      state: 'ok',
    })
    expect(readSettings('/no/such/file')).toBe('')
  })
})

describe('the kernel', () => {
  it('a kernel that can do everything is fine', () => {
    const features = { protocol: '7.45', canResend: true, mapsDirectFiles: true }
    expect(checkKernel(features)).toEqual([
      { name: 'kernel', state: 'ok', says: 'mounts, FUSE 7.45' },
    ])
  })

  it('before 6.9: what a crash costs is told; before 6.6: that it is slower, too', () => {
    const newer = { protocol: '7.39', canResend: false, mapsDirectFiles: true }
    const resend = { state: 'warn', fix: 'use Linux 6.9 or newer' }
    expect(checkKernel(newer)).toMatchObject([resend])
    expect(checkKernel({ ...newer, mapsDirectFiles: false })).toMatchObject([
      resend,
      { state: 'warn', fix: 'use Linux 6.6 or newer' },
    ])
  })

  it('a kernel that does not mount: why, and what the reason says to do', () => {
    const reason = 'Operation not permitted (EPERM)'
    const error = new CairnError('mount_failed', {
      what: 'mount /tmp/x',
      reason,
      hint: 'Run as root.',
    })
    expect(checkKernel(error)).toEqual([
      {
        name: 'kernel',
        state: 'fail',
        says: 'cannot mount: Operation not permitted (EPERM)',
        fix: 'Run as root.',
      },
    ])
    expect(checkKernel(new Error('no idea'))).toMatchObject([
      { state: 'fail', says: 'cannot mount: no idea', fix: 'dmesg | tail' },
    ])
  })
})
