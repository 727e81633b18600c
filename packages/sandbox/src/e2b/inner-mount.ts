import type { Sandbox as E2BInstance } from 'e2b'
import { parseToken, shellQuote } from '@cairn/protocol'
import type { ExecResult, WorkspaceStatus } from '../sandbox.ts'
import type { Credential } from '../workspace/credential.ts'
import { type Care, findLoan, lend } from '../workspace/loan.ts'
import type { WorkspaceReference } from '../workspace/reference.ts'
import { installCairn } from './install-cairn.ts'
import { toResult } from './results.ts'

const mountTimeoutMs = 120_000
const askTimeoutMs = 30_000
const spools = '/var/cache/cairn'
const refusedCode = 113
const refusedWord = 'cairn-workspace-is-not-mounted'

/**
 * A workspace mounted by cairn inside the machine. A token for it goes in by standard input, to root, and is neither in
 * the machine's environment nor on its disk. No command runs where the workspace is not.
 */
export class InnerMount {
  readonly #workspace: WorkspaceReference
  readonly #owner: Credential
  readonly #serverInside: string
  /**
   * Takes care of the token in the machine; for one that another process lent, the secret is not
   * known.
   */
  #care: Care | undefined
  #key: string | undefined

  /** `owner` stays outside; `serverInside` is where the machine reaches the same server. */
  constructor(
    workspace: WorkspaceReference,
    owner: Credential,
    serverInside: string = owner.server,
  ) {
    this.#workspace = workspace
    this.#owner = owner
    this.#serverInside = serverInside
  }

  /** The command, with a question before it: a directory that is empty by mistake must look like a mistake. */
  guard(command: string): string {
    const marker = shellQuote(`${this.#workspace.mountPath}/.cairn/status`)
    return `[ -r ${marker} ] || { echo ${refusedWord} >&2; exit ${refusedCode}; }\n${command}`
  }

  wasRefused({ code, stderr }: ExecResult): boolean {
    return code === refusedCode && stderr.trim() === refusedWord
  }

  /** A quick look, without a command. */
  isVisible(e2b: E2BInstance): Promise<boolean> {
    return e2b.files.exists(`${this.#workspace.mountPath}/.cairn/status`, { user: 'root' })
  }

  /** Mounts it unless it is. */
  async ensure(e2b: E2BInstance): Promise<void> {
    if (!(await this.#isMounted(e2b))) return this.mount(e2b)
    // It may have run out while the machine was paused, or its maker gone.
    if (this.#care) await this.#care.renew()
    else this.#care = await findLoan(this.#workspace, this.#owner, holderOf(e2b))
  }

  async mount(e2b: E2BInstance): Promise<void> {
    await this.#step('install cairn', () => installCairn(e2b))
    const key = await this.#ensureKey(e2b)
    await this.#step('mount', () => this.#start(e2b, key))
    await this.#step('verify', async () => {
      if (!(await this.#isMounted(e2b)))
        throw new Error(`it does not appear at ${this.#workspace.mountPath}`)
    })
  }

  async status(e2b: E2BInstance): Promise<WorkspaceStatus> {
    const { name, layer, mountPath } = this.#workspace
    const said = await runRoot(
      e2b,
      `cairn mount status --json ${shellQuote(mountPath)}`,
      askTimeoutMs,
    )
    const { connected, pendingOps, pendingBytes } = JSON.parse(
      said.stdout || '{}',
    ) as Partial<WorkspaceStatus>
    return {
      name,
      ...(layer && { layer }),
      mountPath,
      connected: connected ?? false,
      pendingOps: pendingOps ?? 0,
      pendingBytes: pendingBytes ?? 0,
    }
  }

  /** Resolves when everything is at the server. */
  async drain(e2b: E2BInstance, timeoutMs: number): Promise<void> {
    const command = `cairn mount drain ${shellQuote(this.#workspace.mountPath)}`
    const { code, stderr } = await runRoot(e2b, command, timeoutMs)
    if (code !== 0)
      throw new Error(
        `cannot bring what was written to workspace ${this.#workspace.name} to the server: ${stderr.trim()}. ` +
          'Try again; `dispose({ drain: false })` ends the sandbox without it.',
      )
  }

  /** When the machine is gone: its token opens nothing any more. */
  async end(): Promise<void> {
    await this.#care?.end()
  }

  /** When the machine goes on without us. */
  release(): void {
    this.#care?.release()
  }

  /** The same one again where that is possible: what a mount under it left can be handed in under it alone. */
  async #ensureKey(e2b: E2BInstance): Promise<string> {
    if (this.#key !== undefined) {
      await this.#care?.renew()
      return this.#key
    }
    await this.#care?.end()
    const loan = await lend(this.#workspace, this.#owner, holderOf(e2b))
    this.#care = loan
    this.#key = loan.key
    return loan.key
  }

  async #isMounted(e2b: E2BInstance): Promise<boolean> {
    const { mountPath, name } = this.#workspace
    const [place, line] = [shellQuote(mountPath), shellQuote(`workspace: ${name}`)]
    const command = `mountpoint -q ${place} && grep -qxF ${line} ${place}/.cairn/status`
    return (await runRoot(e2b, command, askTimeoutMs)).code === 0
  }

  async #start(e2b: E2BInstance, key: string): Promise<void> {
    const { name, path, layer, mountPath, readOnly } = this.#workspace
    const place = shellQuote(mountPath)
    const words = [
      'cairn mount --tool-calls --allow-other --uid "$(id -u user)" --gid "$(id -g user)"',
    ]
    words.push('--workspace', shellQuote(name))
    // What a mount left under another token could not be handed in under this one, and must not hold it up.
    words.push('--cache-dir', shellQuote(`${spools}/${parseToken(key)!.id}`))
    if (layer !== undefined) words.push('--layer', shellQuote(layer))
    if (readOnly === true) words.push('--read-only')
    words.push(shellQuote(`:${path}`), place)
    const script = [
      'IFS= read -r CAIRN_API_KEY',
      'export CAIRN_API_KEY',
      // What a machine that was killed or frozen left of an earlier one.
      `umount -l ${place} 2>/dev/null`,
      `mkdir -p ${place} && chmod 0555 ${place} && ${words.join(' ')}`,
    ].join('\n')
    const command = await e2b.commands.run(script, {
      user: 'root',
      cwd: '/',
      envs: { CAIRN_SERVER: this.#serverInside },
      background: true,
      stdin: true,
      timeoutMs: mountTimeoutMs,
    })
    await e2b.commands.sendStdin(command.pid, `${key}\n`)
    const { code, stderr } = await toResult(command.wait())
    if (code !== 0) throw new Error(stderr.trim() || `cairn mount ended with ${code}`)
  }

  async #step(step: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      const { name, mountPath } = this.#workspace
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(
        `cannot use workspace ${name} at ${mountPath} in the sandbox: ${step}: ${why}. No command was run.`,
        { cause: error },
      )
    }
  }
}

/** By this name another process finds the token of the same machine. */
function holderOf({ sandboxId }: E2BInstance): string {
  return `e2b-${sandboxId}`
}

function runRoot(e2b: E2BInstance, command: string, timeoutMs: number): Promise<ExecResult> {
  return toResult(e2b.commands.run(command, { user: 'root', cwd: '/', timeoutMs }))
}
