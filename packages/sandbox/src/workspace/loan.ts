import { isToken } from '@cairn/protocol'
import {
  type AccessOperation,
  Cairn,
  narrowToken,
  type TokenInfo,
  type Tokens,
  type Workspace,
} from '@cairn/sdk'
import type { Credential } from './credential.ts'
import type { WorkspaceReference } from './reference.ts'

/**
 * A token for one sandbox: its directory, its layer and nothing else, for as long as a process
 * renews it.
 */
export interface Loan extends Credential, Care {}

/** What can be done for a token without knowing its secret. */
export interface Care {
  /** Begins its time anew. While this process lives that happens by itself. */
  renew(): Promise<void>
  /** Leaves it to the sandbox, which goes on without this process until the time is over. */
  release(): void
  /** It stops working now. */
  end(): Promise<void>
}

/** How long a sandbox can go on by itself when the program that made it is gone. */
const ttlMs = 60 * 60_000
const renewMs = ttlMs / 4
const patienceMs = 10_000

const reading: readonly AccessOperation[] = ['read', 'list', 'search']
const writing: readonly AccessOperation[] = [...reading, 'write', 'delete']

/**
 * What a sandbox's mount shows to the server instead of what its maker has. Of an owner's key it is a token of its own;
 * a token is narrowed, and ends when that one does.
 */
export async function lend(
  workspace: WorkspaceReference,
  from: Credential,
  holder: string,
): Promise<Loan> {
  const { name, path, layer, readOnly = false } = workspace
  const allow = [{ path, operations: readOnly ? reading : writing }]
  try {
    const opened = open(workspace, from)
    if (isToken(from.key)) {
      const id = layer === undefined ? undefined : (await opened.layers.status(layer)).id
      return narrowed(from.server, await narrowToken(from.key, { allow, layer: id }))
    }
    // The token could make the directory, and not those that lead there.
    if (path !== '/' && !readOnly && !(await opened.files.exists(path)))
      await opened.files.mkdir(path, { parents: true })
    const issued = await opened.tokens.issue(holder, { ttlMs, allow, layer })
    return { server: from.server, key: issued.secret, ...careFor(opened.tokens, issued) }
  } catch (error) {
    const what = layer === undefined ? name : `${name}, layer ${layer},`
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `cannot use workspace ${what} in the sandbox: get a token: ${why} No command was run.`,
      { cause: error },
    )
  }
}

/** Takes over what another process lent to the same holder; undefined where there is nothing to care for. */
export async function findLoan(
  workspace: WorkspaceReference,
  from: Credential,
  holder: string,
): Promise<Care | undefined> {
  if (isToken(from.key)) return undefined
  const { tokens } = open(workspace, from)
  let newest: TokenInfo | undefined
  for await (const token of tokens.list())
    if (token.name === holder && token.state !== 'revoked')
      if (newest === undefined || newest.createdAt < token.createdAt) newest = token
  if (newest === undefined) return undefined
  const care = careFor(tokens, newest)
  await care.renew()
  return care
}

function open({ name, layer }: WorkspaceReference, { server, key }: Credential): Workspace {
  return new Cairn({ server, apiKey: key }).workspace(name, { layer })
}

function careFor(tokens: Tokens, { id, name }: TokenInfo): Care {
  const renew = async (): Promise<void> =>
    void (await tokens.refresh(id, { timeoutMs: patienceMs }))
  // A server that is away for a while finds three more attempts.
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs).unref()
  const release = (): void => clearInterval(timer)
  return {
    renew,
    release,
    end: async () => {
      release()
      // By name, those that other processes lent to the same machine too. Where the server cannot be reached, their
      // time is over soon.
      await tokens.revoke(name, { timeoutMs: patienceMs }).catch(() => undefined)
    },
  }
}

function narrowed(server: string, key: string): Loan {
  return {
    server,
    key,
    renew: () => Promise.resolve(),
    release: () => undefined,
    end: () => Promise.resolve(),
  }
}
