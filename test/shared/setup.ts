import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const program = fileURLToPath(new URL('serve-parts.ts', import.meta.url))

/** Runs before the first test file and after the last one. Each file has a process of its own, so a server holds what they share. */
export default async function shareParts(project: TestProject): Promise<() => Promise<void>> {
  const server = spawn(process.execPath, ['--conditions=source', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface(server.stdout), 'line')) as [string]
  process.env['CAIRN_TEST_SHARED'] = url
  // Sources have changed, so they must be bundled again.
  project.onTestsRerun(async () => {
    for (const bundle of ['command', 'program'])
      await fetch(new URL(bundle, url), { method: 'DELETE' })
  })
  return async () => {
    const ended = once(server, 'exit')
    // It removes what it made.
    server.stdin.end()
    await ended
  }
}
