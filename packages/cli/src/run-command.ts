import { homedir } from 'node:os'
import { completeWord } from './complete/word.ts'
import type { Cli } from './cli.ts'
import { type Edge, exitAfter } from './exit.ts'
import { Output } from './output/output.ts'
import { findInvocation, isJson, runProgram } from './program.ts'

export async function runCommand(argv: readonly string[]): Promise<void> {
  const { env } = process
  const out = new Output(process.stdout, { env })
  const err = new Output(process.stderr, { env, isUnbuffered: true })
  const edge: Edge = { out, err, name: '', isJson: isJson(argv) }

  await exitAfter(edge, async (signal, onHurry) => {
    if (argv[0] === completeWord) {
      const { complete } = await import('./complete/complete.ts')
      const words = argv.slice(argv[1] === '--' ? 2 : 1)
      for (const word of await complete({ env: process.env, home: homedir() }, words))
        await out.line(word)
      return
    }
    const invocation = findInvocation(argv)
    edge.name = invocation.name
    const cli: Cli = {
      env: process.env,
      home: homedir(),
      // Opened only by those who read it: that takes longer than printing a version.
      get stdin() {
        return process.stdin
      },
      out,
      err,
      signal,
      onHurry,
      isJson: edge.isJson,
    }
    await runProgram(invocation, cli)
  })
}
