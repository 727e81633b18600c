import { withToolCall } from '@cairn/agents'
import type { Sandbox, SandboxFs } from '@cairn/sandbox'

/** What an adapter does in place of the sandbox, so that the contract of sandboxes is tried through it. */
export interface Through {
  readonly exec: (
    command: string,
    timeoutMs: number,
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  /** Those of the sandbox unless given. */
  readonly files?: {
    /** Null: there is no such file. */
    readonly read: (path: string) => Promise<Uint8Array | null>
    readonly write: (path: string, content: Uint8Array) => Promise<void>
  }
}

/** The sandbox with its commands and files as an adapter has them. */
export function through(sandbox: Sandbox, { exec, files }: Through): Sandbox {
  const parts: Partial<Sandbox> = {
    exec: (command, { timeoutMs = 60_000, toolCall } = {}) =>
      within(toolCall, () => exec(command, timeoutMs)),
  }
  return replace(sandbox, files ? { ...parts, fs: replace(sandbox.fs, fsOf(files)) } : parts)
}

function fsOf(files: NonNullable<Through['files']>): Partial<SandboxFs> {
  const read = async (path: string): Promise<Uint8Array> => {
    const bytes = await files.read(path)
    if (bytes === null) throw new Error(`there is no ${path}`)
    return bytes
  }
  const bytesOf = (content: string | Uint8Array): Uint8Array =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content
  return {
    read: async (path) => new TextDecoder().decode(await read(path)),
    readBytes: read,
    write: (path, content, { toolCall } = {}) =>
      within(toolCall, () => files.write(path, bytesOf(content))),
  }
}

/** As a framework tells of the call. */
function within<Result>(toolCall: string | undefined, work: () => Result): Result {
  return toolCall === undefined ? work() : withToolCall(toolCall, work)
}

function replace<Part extends object>(whole: Part, parts: Partial<Part>): Part {
  return new Proxy(whole, {
    get(target, key) {
      if (Object.hasOwn(parts, key)) return Reflect.get(parts, key)
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
