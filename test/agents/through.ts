import type { Sandbox, SandboxFs } from '@cairn/sandbox'

/** What an adapter does in place of the sandbox, so that the contract of sandboxes is tried through it. */
export interface Through {
  readonly exec: (
    command: string,
    timeoutMs: number,
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  /** Null: there is no such file. */
  readonly read: (path: string) => Promise<Uint8Array | null>
  readonly write: (path: string, content: Uint8Array) => Promise<void>
}

/** The sandbox with its commands and files as an adapter has them. */
export function through(sandbox: Sandbox, adapter: Through): Sandbox {
  const read = async (path: string): Promise<Uint8Array> => {
    const bytes = await adapter.read(path)
    if (bytes === null) throw new Error(`there is no ${path}`)
    return bytes
  }
  const fs: Partial<SandboxFs> = {
    read: async (path) => new TextDecoder().decode(await read(path)),
    readBytes: read,
    write: (path, content) =>
      adapter.write(
        path,
        typeof content === 'string' ? new TextEncoder().encode(content) : content,
      ),
  }
  const exec: Sandbox['exec'] = (command, { timeoutMs = 60_000 } = {}) =>
    adapter.exec(command, timeoutMs)
  return replace(sandbox, { exec, fs: replace(sandbox.fs, fs) })
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
