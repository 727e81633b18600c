import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { type ErrorCode, errorTable, exitCodeOf } from '@cairn/protocol'
import { serve, type ServeOptions } from '@cairn/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ErrorCase, errorCases, provokedElsewhere } from '../test/error-cases.ts'
import { type Ran, runCli, temporaryDirectory } from '../test/run-cli.ts'

const root = new URL('../../../', import.meta.url)
const workspace = 'website'

/** Words in single quotes are one. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

/** IDs and times, which differ each time. */
function withoutChance(text: string): string {
  return text.replace(/\b(ly|cp|tok)_[\w-]+/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
}

/** A program that answers in place of a Cairn server. */
async function startOther(): Promise<string> {
  const other = createServer((_, response) => response.end('<html>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`
}

async function startServer(data: ServeOptions['data']): Promise<{ url: string; key: string }> {
  const serving = await serve({ data, listen: '127.0.0.1:0' })
  onTestFinished(() => serving.close())
  return { url: serving.url, key: serving.ownerKey! }
}

async function provoke({ steps = [], files = [], stdin, env, run }: ErrorCase): Promise<Ran> {
  const directory = temporaryDirectory()
  const [{ url, key }, other] = [await startServer(join(directory, 'server')), await startOther()]
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(join(directory, file), '')
  }
  let printed = ''
  const fill = (text: string): string =>
    text
      .replaceAll('DIR', directory)
      .replaceAll('PORT', new URL(url).port)
      .replaceAll('OTHER', other)
      .replaceAll('WORKSPACE', workspace)
      .replaceAll('PRINTED', printed)
  const options = { home: join(directory, 'home'), ...(stdin === undefined ? {} : { stdin }) }
  const owner = { CAIRN_SERVER: url, CAIRN_API_KEY: key, CAIRN_WORKSPACE: workspace }
  for (const step of [`ws create ${workspace}`, ...steps]) {
    const { exitCode, stdout, stderr } = await runCli(wordsOf(step).map(fill), {
      ...options,
      env: owner,
    })
    if (exitCode !== 0) throw new Error(`${step}: ${stderr}`)
    printed = /cairn_\S+/.exec(stdout)?.[0] ?? printed
  }
  const changed = Object.entries(env ?? {}).map(([name, value]) => [name, fill(value)])
  const ran = await runCli(wordsOf(run).map(fill), {
    ...options,
    env: { ...owner, ...Object.fromEntries(changed) },
  })
  return {
    ...ran,
    stderr: withoutChance(
      ran.stderr.replaceAll(directory, 'DIR').replaceAll(new URL(url).port, 'PORT'),
    ),
  }
}

describe('every error', () => {
  it('every error is provoked here, or names the test that does', () => {
    const known = [...Object.keys(errorCases), ...Object.keys(provokedElsewhere)]
    expect(known.toSorted()).toEqual(Object.keys(errorTable).toSorted())
  })

  it.each(Object.entries(errorCases) as [ErrorCode, ErrorCase][])('%s', async (code, error) => {
    const { exitCode, stderr } = await provoke(error)
    expect(stderr).toBe(`${error.says}\n`)
    expect(exitCode).toBe(exitCodeOf({ code, errno: error.errno }))
  })

  it.each(Object.entries(provokedElsewhere))('%s: the test that provokes it', (code, path) => {
    expect(readFileSync(new URL(path, root), 'utf8')).toMatch(new RegExp(`['"]${code}['"]`))
  })
})
