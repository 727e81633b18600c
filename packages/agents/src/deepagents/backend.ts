import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@cairn/sandbox'
import { Cairn, type FileEntry, type FileStat, isCairnError, type Workspace } from '@cairn/sdk'
import { runBounded } from '../exec/run-bounded.ts'
import { dateOf } from '../file-time.ts'
import { absolute } from '../open-place.ts'
import { runTool } from '../run-tool.ts'
import { imageTypeOf } from '../text/media-type.ts'
import { currentToolCall } from '../tool-call.ts'
import { explainFailure } from '../tool-error.ts'
import type { Tool } from '../tool.ts'
import { edit } from '../tools/edit.ts'
import { remove } from '../tools/remove.ts'
import { write } from '../tools/write.ts'
import { openAccess, type WorkspaceAccess } from '../workspace-access.ts'
import type {
  BackendFile,
  ChangeResult,
  DownloadResult,
  EditResult,
  ExecuteResult,
  FileProblem,
  GlobResult,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  UploadResult,
} from './protocol.ts'

export { cairnToolCalls } from './tool-calls.ts'

const linesUsual = 500
const filesMax = 1000
const timeoutMs = 600_000
const outputBytesMax = 200_000

/**
 * The files of a workspace as the backend of a deep agent. Nothing is kept in the state of the graph, and no machine is
 * needed. Paths begin at the root of the workspace.
 *
 * @example
 * ```ts
 * const backend = new CairnBackend({ server: 'http://127.0.0.1:7070', apiKey, workspace: 'default' })
 * const agent = createDeepAgent({ model, backend })
 * ```
 */
export class CairnBackend {
  readonly #access: WorkspaceAccess

  constructor(access: WorkspaceAccess) {
    this.#access = access
  }

  ls(path: string): Promise<LsResult> {
    return orError(async () => {
      const files: BackendFile[] = []
      for await (const entry of this.#files.list(absolute(path))) files.push(infoOf(entry))
      return { files }
    })
  }

  read(path: string, offset: number = 0, limit: number = linesUsual): Promise<ReadResult> {
    return orError(async () => {
      const { content } = await this.#load(path)
      const mimeType = mimeTypeOf(path, content)
      if (typeof content !== 'string') return { content, mimeType }
      const lines = content.split('\n')
      const totalLines = lines.at(-1) === '' ? lines.length - 1 : lines.length
      if (offset > 0 && offset >= totalLines)
        return { error: `cannot read ${path} from line ${offset}: it has ${totalLines} lines.` }
      const end = Math.min(offset + limit, totalLines)
      const isEnd = end === totalLines
      const shown = lines.slice(offset, isEnd ? undefined : end).join('\n')
      const range = { startLine: offset + 1, endLine: end, ...(!isEnd && { nextOffset: end }) }
      return { content: shown, mimeType, totalLines, ...range }
    })
  }

  readRaw(path: string): Promise<ReadRawResult> {
    return orError(async () => {
      const { content, stat } = await this.#load(path)
      const [created_at, modified_at] = [timeOf(stat.ctimeNs), timeOf(stat.mtimeNs)]
      return { data: { content, mimeType: mimeTypeOf(path, content), created_at, modified_at } }
    })
  }

  async write(path: string, content: string): Promise<ChangeResult> {
    const { error } = await this.#run(write, { file_path: path, content })
    return error === undefined ? { path, filesUpdate: null } : { error }
  }

  async edit(
    path: string,
    old_string: string,
    new_string: string,
    replace_all: boolean = false,
  ): Promise<EditResult> {
    const input = { file_path: path, old_string, new_string, replace_all }
    const { error, data } = await this.#run(edit, input)
    if (error !== undefined) return { error }
    return { path, filesUpdate: null, occurrences: Number(data?.['replacements']) }
  }

  async delete(path: string): Promise<ChangeResult> {
    const { error } = await this.#run(remove, { path, recursive: true })
    return error === undefined ? { path, filesUpdate: null } : { error }
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult> {
    return orError(async () => {
      const matches: { path: string; line: number; text: string }[] = []
      const limit = maxCount ?? undefined
      const found = openAccess(this.#access).grep(pattern, {
        fixed: true,
        path: absolute(path ?? '/'),
        ...(glob && { glob: [glob] }),
        ...(limit !== undefined && { limit: limit + 1 }),
      })
      for await (const { type, data } of found)
        if (type === 'match' && 'text' in data.path && 'text' in data.lines)
          matches.push({
            path: absolute(data.path.text),
            line: data.line_number,
            text: data.lines.text.replace(/\r?\n$/, ''),
          })
      const truncated = limit !== undefined && matches.length > limit
      return { matches: matches.slice(0, limit), ...(truncated && { truncated }) }
    })
  }

  glob(pattern: string, path = '/'): Promise<GlobResult> {
    return orError(async () => {
      const files: BackendFile[] = []
      const whole = `${absolute(path).replace(/\/$/, '')}/${pattern.replace(/^\/+/, '')}`
      for await (const entry of this.#files.glob(whole)) {
        if (entry.kind === 'directory') continue
        if (files.length === filesMax) return { files, truncated: true }
        files.push(infoOf(entry))
      }
      return { files }
    })
  }

  uploadFiles(files: [string, Uint8Array][]): Promise<UploadResult[]> {
    return Promise.all(
      files.map(async ([path, content]) => {
        const error = await codeOf(() => this.#files.write(absolute(path), content))
        return { path, error }
      }),
    )
  }

  downloadFiles(paths: string[]): Promise<DownloadResult[]> {
    return Promise.all(
      paths.map(async (path) => {
        let content: Uint8Array | null = null
        const error = await codeOf(async () => {
          content = await this.#files.read(absolute(path))
        })
        return { path, content, error }
      }),
    )
  }

  get #files(): Workspace['files'] {
    return openAccess(this.#access).files
  }

  async #load(path: string): Promise<{ content: string | Uint8Array; stat: FileStat }> {
    const stat = await this.#files.stat(absolute(path))
    const bytes = await this.#files.read(absolute(path), { ifMatch: stat.etag })
    return { content: textOf(bytes) ?? bytes, stat }
  }

  /** What the tools of every other way in do, with their limits and their words. */
  async #run(
    tool: Tool,
    input: object,
  ): Promise<{ readonly error?: string; readonly data?: Readonly<Record<string, unknown>> }> {
    const { server, apiKey, workspace, layer } = this.#access
    const cairn = new Cairn({ server, apiKey, toolCall: currentToolCall() })
    const outcome = await runTool(tool, input, { cairn, workspace, layer })
    return outcome.isError ? { error: outcome.text } : { data: outcome.data }
  }
}

/**
 * The same with a sandbox that has the workspace mounted: then the agent has the tool `execute`. Commands start at the root of
 * the workspace, so paths that are relative to it are the same for all tools.
 *
 * @example
 * ```ts
 * const backend = new CairnSandboxBackend(new LocalSandbox({ workspace: { name: 'default' } }), access)
 * ```
 */
export class CairnSandboxBackend extends CairnBackend {
  readonly id: string = `cairn-${randomUUID()}`
  readonly #sandbox: Sandbox

  constructor(sandbox: Sandbox, access: WorkspaceAccess) {
    super(access)
    this.#sandbox = sandbox
  }

  /** What the command wrote is at the server when it resolves, where the other tools look. */
  async execute(command: string): Promise<ExecuteResult> {
    const limits = { timeoutMs, bytesMax: outputBytesMax }
    const result = await runBounded(this.#sandbox, command, limits)
    await this.#sandbox.flush()
    const { stdout, stderr, exitCode, truncated, timedOut } = result
    const late = timedOut ? `\n[The command was ended after ${timeoutMs} ms.]` : ''
    return { output: stdout + stderr + late, exitCode, truncated }
  }
}

/** Backends tell errors as values. */
async function orError<Result extends object>(
  work: () => Promise<Result>,
): Promise<Result | { error: string }> {
  try {
    return await work()
  } catch (error) {
    const text = explainFailure(error)
    if (text === undefined) throw error
    return { error: text }
  }
}

async function codeOf(work: () => Promise<unknown>): Promise<FileProblem | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!isCairnError(error)) throw error
    if (error.errno === 'ENOENT' || error.errno === 'ENOTDIR') return 'file_not_found'
    if (error.errno === 'EISDIR') return 'is_directory'
    if (error.code === 'forbidden' || error.errno === 'EACCES') return 'permission_denied'
    if (error.errno === 'EINVAL') return 'invalid_path'
    throw error
  }
}

/** A directory ends with a slash. */
function infoOf({ path, kind, size, mtimeNs }: FileEntry): BackendFile {
  const is_dir = kind === 'directory'
  return { path: is_dir ? `${path}/` : path, is_dir, size, modified_at: timeOf(mtimeNs) }
}

function timeOf(ns: string): string {
  return dateOf(ns).toISOString()
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function mimeTypeOf(path: string, content: string | Uint8Array): string {
  if (typeof content === 'string') return 'text/plain'
  return imageTypeOf(path) ?? 'application/octet-stream'
}
