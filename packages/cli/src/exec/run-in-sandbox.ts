import { shellQuote } from '@cairn/protocol'
import type { LayerInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { findCredentials } from '../context/credentials.ts'
import { asking } from '../sandbox/open.ts'
import { openWorkspace } from '../remote/open.ts'
import type { ChildResult } from './run-child.ts'
import type { ExecWish } from './run-in-layer.ts'

interface SandboxWish extends ExecWish {
  readonly sandbox: 'local' | 'e2b'
}

/** As long as a sandbox of E2B may live. */
const timeoutMsMax = 24 * 60 * 60 * 1000

/** Runs the command in a machine of its own, with the layer mounted in it. Its output comes when it has ended. */
export async function runInSandbox(
  cli: Cli,
  layer: LayerInfo,
  { words, values, sandbox: kind, e2b, env: envs, timeoutMs = timeoutMsMax, onOutput }: SandboxWish,
): Promise<ChildResult> {
  const { LocalSandbox, E2BSandbox } = await import('@cairn/sandbox')
  const { server, apiKey: token } = await findCredentials(cli, values)
  const { name } = await openWorkspace(cli, values)
  const workspace = { name, layer: layer.id, path: layer.path, server, token }
  const toolCall = cli.env['CAIRN_TOOL_CALL']
  const options = {
    workspace,
    envs: { ...(toolCall ? { CAIRN_TOOL_CALL: toolCall } : {}), ...envs },
  }
  const sandbox =
    kind === 'local' ? new LocalSandbox(options) : new E2BSandbox({ ...options, ...e2b })
  const what = `run ${words[0]} in a sandbox (${kind})`
  const stop = (): void => void sandbox.dispose({ drain: false }).catch(() => {})
  cli.signal.addEventListener('abort', stop, { once: true })
  try {
    const line = words.length === 1 ? words[0]! : words.map(shellQuote).join(' ')
    const result = await asking(what, () => sandbox.exec(line, { timeoutMs }))
    const { code, stdout, stderr, stopped } = result
    cli.signal.throwIfAborted()
    if (onOutput) {
      onOutput(stdout, 'stdout')
      onOutput(stderr, 'stderr')
    } else {
      await (cli.isJson ? cli.err : cli.out).raw(stdout)
      await cli.err.raw(stderr)
    }
    return { exitCode: code, timedOut: stopped === 'timeout' }
  } finally {
    cli.signal.removeEventListener('abort', stop)
    await asking(what, () => sandbox.dispose())
  }
}
