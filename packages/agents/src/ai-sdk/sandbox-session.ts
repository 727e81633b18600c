import type {
  Experimental_SandboxProcess as ProcessHandle,
  Experimental_SandboxSession as SandboxSession,
} from 'ai'
import type { Sandbox } from '@cairn/sandbox'
import { listKinds, lookAt, readIfThere, removeFile, writeFile } from '../exec/files.ts'
import { runBounded } from '../exec/run-bounded.ts'
import { currentToolCall } from '../tool-call.ts'

type ProcessOptions = Parameters<SandboxSession['run']>[0]

/**
 * A sandbox as the AI SDK takes it, for `experimental_sandbox`. Paths are relative to where the workspace is mounted.
 *
 * @example
 * ```ts
 * const experimental_sandbox = sandboxSession(new LocalSandbox({ workspace }))
 * await generateText({ model, tools, prompt, experimental_sandbox })
 * ```
 */
export function sandboxSession(sandbox: Sandbox): SandboxSession {
  return {
    description: `A Linux machine. Commands start in ${sandbox.workDir}; what is written there outlives the machine.`,
    readFile: async ({ path, abortSignal }) => {
      const bytes = await quit(abortSignal, () => readIfThere(sandbox, path))
      return bytes === undefined ? null : new Blob([new Uint8Array(bytes)]).stream()
    },
    readBinaryFile: async ({ path, abortSignal }) =>
      (await quit(abortSignal, () => readIfThere(sandbox, path))) ?? null,
    readTextFile: async ({ path, encoding, startLine, endLine, abortSignal }) => {
      const bytes = await quit(abortSignal, () => readIfThere(sandbox, path))
      if (bytes === undefined) return null
      return pickLines(new TextDecoder(encoding).decode(bytes), startLine, endLine)
    },
    writeFile: async ({ path, content, abortSignal }) => {
      const bytes = new Uint8Array(await new Response(content).arrayBuffer())
      await quit(abortSignal, () => writeFile(sandbox, path, bytes))
    },
    writeBinaryFile: ({ path, content, abortSignal }) =>
      quit(abortSignal, () => writeFile(sandbox, path, content)),
    writeTextFile: ({ path, content, encoding = 'utf-8', abortSignal }) =>
      quit(abortSignal, () =>
        writeFile(sandbox, path, Buffer.from(content, encoding as BufferEncoding)),
      ),
    stat: async ({ path, abortSignal }) => {
      const facts = await quit(abortSignal, () => lookAt(sandbox, path))
      if (facts === undefined) return null
      const { kind, size } = facts
      return { type: kind === 'symlink' ? 'other' : kind, size }
    },
    listDirectory: async ({ path, abortSignal }) => {
      const entries = await quit(abortSignal, () => listKinds(sandbox, path))
      return entries?.map(({ name, kind }) => ({ name, type: kind })) ?? null
    },
    deleteFile: ({ path, abortSignal }) => quit(abortSignal, () => removeFile(sandbox, path)),
    spawn: spawnOf(sandbox),
    run: async ({ command, workingDirectory: cwd, env, abortSignal: signal }) => {
      const options = { ...(cwd !== undefined && { cwd }), ...(env && { env }), signal }
      const { exitCode, stdout, stderr } = await runBounded(sandbox, command, options)
      return { exitCode, stdout, stderr }
    },
  }
}

type SpawnOptions = ProcessOptions & { readonly stdin?: boolean }

function spawnOf(sandbox: Sandbox): SandboxSession['spawn'] {
  const spawn = async (options: SpawnOptions): Promise<ProcessHandle> => start(sandbox, options)
  // The process has an input if one was asked for, which a function without overloads cannot say.
  return spawn as unknown as SandboxSession['spawn']
}

async function start(
  sandbox: Sandbox,
  { command, workingDirectory: cwd, env, stdin = false, abortSignal }: SpawnOptions,
): Promise<ProcessHandle> {
  abortSignal?.throwIfAborted()
  const options = {
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    stdin,
    toolCall: currentToolCall(),
  }
  const process = await sandbox.start(command, options)
  const abort = (): void => void process.kill().catch(() => undefined)
  abortSignal?.addEventListener('abort', abort, { once: true })
  return {
    pid: process.pid,
    ...(process.stdin && { stdin: process.stdin }),
    stdout: process.stdout,
    stderr: process.stderr,
    kill: () => process.kill(),
    wait: async () => {
      const exitCode = await process.wait()
      abortSignal?.removeEventListener('abort', abort)
      abortSignal?.throwIfAborted()
      return { exitCode }
    },
  }
}

/** A file takes a moment: it is not begun after an abort, and not cut off by one. */
async function quit<Result>(
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted()
  return work()
}

/** From 1, both ends included; a last line that is not there is no error. */
function pickLines(text: string, first = 1, last = Infinity): string {
  if (first === 1 && last === Infinity) return text
  return text
    .split(/(?<=\n)/)
    .slice(first - 1, last)
    .join('')
}
