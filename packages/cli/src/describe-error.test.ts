import { readFileSync } from 'node:fs'
import { CairnError, type ErrorCode } from '@cairn/sdk'
import { describe, expect, it } from 'vitest'
import { describeError } from './describe-error.ts'
import { usageError } from './errors.ts'

const details = { what: 'read /a', reason: 'it is so' }

describe('exit codes', () => {
  it.each([
    ['unauthenticated', 3],
    ['access_ended', 3],
    ['forbidden', 8],
    ['host_refused', 8],
    ['vault_denied', 8],
    ['workspace_missing', 4],
    ['workspace_exists', 5],
    ['precondition_failed', 6],
    ['file_system', 1],
    ['storage_unavailable', 12],
    ['unreachable', 12],
    ['file_changed', 13],
    ['internal', 70],
    ['of_a_newer_server', 1],
    ['toString', 1],
  ])('%s: %i', (code, exitCode) => {
    expect(describeError(new CairnError(code as ErrorCode, details)).exitCode).toBe(exitCode)
  })

  it.each([
    ['ENOENT', 4],
    ['EEXIST', 5],
    ['EACCES', 8],
    ['EPERM', 8],
    ['EROFS', 8],
    ['EFBIG', 7],
    ['ENOSPC', 18],
    ['EDQUOT', 18],
    ['ENOTEMPTY', 1],
    ['EISDIR', 1],
    ['E_OF_A_NEWER_SERVER', 1],
    ['toString', 1],
  ])('a file system that refuses with %s, here or on the server: %i', (errno, exitCode) => {
    for (const code of ['file_system', 'local_file'] as const)
      expect(describeError(new CairnError(code, { ...details, errno })).exitCode).toBe(exitCode)
  })

  it('another code keeps its own, whatever its errno', () => {
    const error = new CairnError('layer_conflict', { ...details, errno: 'ENOENT' })
    expect(describeError(error).exitCode).toBe(9)
  })

  it('a mistake in what was typed: 2', () => {
    expect(describeError(usageError('do it', 'no', 'Do that.')).exitCode).toBe(2)
  })
})

describe('messages', () => {
  it('a CairnError shows what failed, why, and what to do', () => {
    const error = new CairnError('file_system', { ...details, hint: 'Do that.', errno: 'ENOENT' })
    expect(describeError(error)).toMatchObject({
      text: 'cannot read /a: it is so. Do that.',
      json: { code: 'file_system', errno: 'ENOENT', hint: 'Do that.' },
    })
  })

  it('an error about a local file is told in words', () => {
    const error = catchError(() => readFileSync('/no/such/file'))
    const { text, json, exitCode } = describeError(error)
    expect(text).toBe(
      'cannot open /no/such/file: no such file or directory. Check the path on this machine. A remote path begins with a colon: :/PATH.',
    )
    expect([json.code, exitCode]).toEqual(['local_file', 4])
  })

  it('a bug is shown with its stack', () => {
    const { text, json, exitCode } = describeError(new TypeError('x is not a function'))
    expect(text).toContain(
      'cannot finish the command: this is a bug in cairn. Please report it with these lines:\nTypeError: x is not a function\n',
    )
    expect(json.code).toBe('internal')
    expect(exitCode).toBe(70)
  })
})

function catchError(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

it('a part that is not installed is no bug', () => {
  const message = "Cannot find package '@cairn/server' imported from /somewhere/cairn.mjs"
  const error = Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })
  const { text, json, exitCode } = describeError(error)
  expect([json.code, exitCode]).toEqual(['check_failed', 1])
  expect(text).toContain('@cairn/server')
})
