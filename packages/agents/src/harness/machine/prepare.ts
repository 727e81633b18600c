import type { Sandbox } from '@cairn/sandbox'
import { shellQuote } from '@cairn/protocol'
import type { ProviderConfig } from '../config/provider-config.ts'

const hookTimeoutMs = 600_000
const failedCode = 86

/** On the machine's own disk, so that a new machine is set up again. */
const done = '"$HOME/.fp-setup-done"'

/** `onCreate` once for each machine, `onResume` each time. Both run in the workspace. Rejects where one fails. */
export async function prepare(
  sandbox: Sandbox,
  { onCreate = [], onResume = [], envVars }: ProviderConfig,
): Promise<void> {
  if (onCreate.length > 0) {
    const lock = 'exec 9>"$HOME/.fp-setup-lock"; flock 9'
    const once = `[ -e ${done} ] && exit 0`
    await runHook(sandbox, 'onCreate', [lock, once, ...each(onCreate), `: > ${done}`], envVars)
  }
  if (onResume.length > 0) await runHook(sandbox, 'onResume', each(onResume), envVars)
}

/** A hook is a program of its own: its `exit` and its variables end with it. */
function each(commands: readonly string[]): string[] {
  return commands.map(
    (command) =>
      `bash -c ${shellQuote(command)} 9>&- || { echo "${failedCode} $?" >&2; exit ${failedCode}; }`,
  )
}

async function runHook(
  sandbox: Sandbox,
  hook: string,
  lines: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const variables = Object.entries(env).map(
    ([name, value]) => `export ${name}=${shellQuote(value)}`,
  )
  const script = [...variables, ...lines].join('\n')
  const { code, stderr } = await sandbox.exec(script, { timeoutMs: hookTimeoutMs })
  if (code === 0) return
  throw new Error(
    `cannot prepare the sandbox: ${hook} failed: ${stderr.trim() || `it ended with ${code}`}. No command was run. ` +
      'Correct the hook; it runs again with the next call.',
  )
}
