import { randomBytes, randomUUID } from 'node:crypto'
import {
  CairnError,
  type Page,
  type SecretInfo,
  type SecretReceipt,
  type SecretVersion,
} from '@cairn/protocol'
import { vaultFieldsMax } from '@cairn/protocol/routes'
import type { StoredSecret, StoredVersion, VaultTable } from '../storage/vault-table.ts'
import { type Clock, isoTime } from '../ports/clock.ts'
import {
  missingSecret,
  OutOfSight,
  type VaultAct,
  type VaultAsker,
  type VaultAudit,
} from './audit.ts'
import { allowsField, allowsSecret, concerns } from './scope.ts'
import { decrypt, encrypt, secretKeyBytes, wiping } from './encrypt.ts'
import type { WorkspaceKeys } from './workspace-keys.ts'

export interface VaultParts {
  readonly table: VaultTable
  readonly keys: WorkspaceKeys
  readonly audit: VaultAudit
  readonly clock: Clock
}

export type Values = ReadonlyMap<string, Uint8Array>

/** Null takes a field away. */
export type ValueEdit = ReadonlyMap<string, Uint8Array | null>

export interface ReadValues {
  readonly version: number
  readonly values: Values
}

export interface SecretConditions {
  /** The version it must have; 0 for none yet. */
  readonly ifVersion?: number | undefined
}

export const valueBytesMax: number = 256 << 10
const attemptsMax = 20
/** How many names are read at once. */
const listedMax = 1000

/** Secrets of workspaces: fields under a name, in versions, each encrypted with a key of its own. */
export class VaultKeeper {
  readonly #table: VaultTable
  readonly #keys: WorkspaceKeys
  readonly #audit: VaultAudit
  readonly #clock: Clock

  constructor({ table, keys, audit, clock }: VaultParts) {
    this.#table = table
    this.#keys = keys
    this.#audit = audit
    this.#clock = clock
  }

  /** Those of which something may be seen, in the order of their names. */
  async list(asker: VaultAsker, after: string, limit: number): Promise<Page<SecretInfo>> {
    const seen = await this.#listSeen(asker, after, limit + 1)
    const page = seen.slice(0, limit)
    const items = await Promise.all(page.map((secret) => this.#describe(asker, secret)))
    // A cursor is the name of a secret, so it must be one that the caller may see.
    return seen.length > limit ? { items, next: page.at(-1)!.name } : { items }
  }

  async #listSeen(asker: VaultAsker, after: string, limit: number): Promise<StoredSecret[]> {
    const seen: StoredSecret[] = []
    for (let from = after; ;) {
      const secrets = await this.#table.list(asker.workspace, from, listedMax)
      seen.push(...secrets.filter(({ name }) => isSeen(asker, name)))
      if (seen.length >= limit || secrets.length < listedMax) return seen.slice(0, limit)
      from = secrets.at(-1)!.name
    }
  }

  history(asker: VaultAsker, name: string): Promise<readonly SecretVersion[]> {
    return this.#audit.refusals(asker, { action: 'history', secret: name }, async () => {
      const secret = await this.#find(asker, name)
      const versions = await this.#table.listVersions(secret.id)
      return versions.map(({ version, createdAt, createdBy, fields }) => ({
        version,
        fields: seenFields(asker, name, fields.keys()),
        createdAt,
        createdBy,
      }))
    })
  }

  /** All fields that may be read, or the one asked for. */
  read(
    asker: VaultAsker,
    name: string,
    { field, version }: { readonly field?: string; readonly version?: number } = {},
  ): Promise<ReadValues> {
    const act = { action: 'read', secret: name, ...(field === undefined ? {} : { field }) }
    return this.#audit.refusals(asker, act, async () => {
      const secret = await this.#find(asker, name)
      const stored = await this.#table.findVersion(secret.id, version ?? secret.lastVersion)
      if (!stored) throw missingSecret(name, `it has no version ${version}`)
      const wanted = readableFields(asker, name, stored, field)
      const values = await this.#open(asker.workspace, stored, wanted)
      await this.#audit.note(asker, { ...act, version: stored.version }, 'ok')
      return { version: stored.version, values }
    })
  }

  /** Replaces the whole secret, or makes it. */
  replace(
    asker: VaultAsker,
    name: string,
    values: Values,
    conditions: SecretConditions = {},
  ): Promise<SecretReceipt> {
    const act = { action: 'put', secret: name }
    return this.#audit.refusals(asker, act, async () => {
      requireWrite(asker, name, undefined)
      return this.#write(asker, act, conditions, async () => values)
    })
  }

  /** Changes some fields and keeps the others, or makes the secret. */
  edit(
    asker: VaultAsker,
    name: string,
    edit: ValueEdit,
    conditions: SecretConditions = {},
  ): Promise<SecretReceipt> {
    const act = { action: 'set', secret: name }
    return this.#audit.refusals(asker, act, async () => {
      requireSomeEdit(asker, name, edit)
      for (const field of edit.keys()) requireWrite(asker, name, field)
      return this.#write(asker, act, conditions, (before) => this.#merge(asker, before, edit))
    })
  }

  /** With all its versions. */
  remove(asker: VaultAsker, name: string): Promise<void> {
    const act = { action: 'remove', secret: name }
    return this.#audit.refusals(asker, act, async () => {
      requireWrite(asker, name, undefined)
      const secret = await this.#table.find(asker.workspace, name)
      const also = this.#audit.statements(asker, act)
      if (!secret || !(await this.#table.remove(secret, also))) throw missingSecret(name)
    })
  }

  async #write(
    asker: VaultAsker,
    act: VaultAct & { readonly secret: string },
    { ifVersion }: SecretConditions,
    valuesAfter: (before: StoredVersion | undefined) => Promise<Values>,
  ): Promise<SecretReceipt> {
    const { workspace, idempotencyKey = randomUUID() } = asker
    const request = `${asker.actor}:${idempotencyKey}`
    const name = act.secret
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const secret = await this.#table.find(workspace, name)
      const done = secret && (await this.#table.findRequest(secret.id, request))
      if (done) return receiptOf(asker, name, done)
      const last = secret?.lastVersion ?? 0
      if (ifVersion !== undefined && ifVersion !== last) throw outdated(name, ifVersion, last)
      const before = secret && (await this.#table.findVersion(secret.id, last))
      const values = await valuesAfter(before)
      requireSomeFields(name, values)
      const id = secret?.id ?? `secret_${randomUUID()}`
      const made = await this.#encrypt(asker, { secret: id, version: last + 1, request }, values)
      const also = this.#audit.statements(asker, { ...act, version: made.version })
      const isDone = secret
        ? await this.#table.addVersion(made, also)
        : await this.#table.create(newSecret(asker, name, made), made, also)
      if (isDone) return receiptOf(asker, name, made)
    }
    throw new CairnError('sequence_conflict', {
      what: `write the secret ${name}`,
      reason: 'others write it all the time',
      subject: name,
    })
  }

  async #merge(
    { workspace }: VaultAsker,
    before: StoredVersion | undefined,
    edit: ValueEdit,
  ): Promise<Values> {
    const kept = [...(before?.fields.keys() ?? [])].filter((field) => !edit.has(field))
    const values = before ? await this.#open(workspace, before, kept) : new Map()
    const set = [...edit].filter((pair): pair is [string, Uint8Array] => pair[1] !== null)
    return new Map([...values, ...set])
  }

  #encrypt(
    { workspace, actor }: VaultAsker,
    { secret, version, request }: Pick<StoredVersion, 'secret' | 'version' | 'request'>,
    values: Values,
  ): Promise<StoredVersion> {
    const where = [workspace, secret, version] as const
    return this.#keys.use(workspace, (workspaceKey) =>
      wiping(randomBytes(secretKeyBytes), (key) => ({
        secret,
        version,
        request,
        wrappedKey: encrypt(workspaceKey, key, ['version key', ...where]),
        createdAt: isoTime(this.#clock.now()),
        createdBy: actor,
        fields: new Map(
          [...values]
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([field, value]) => [field, encrypt(key, value, ['field', ...where, field])]),
        ),
      })),
    )
  }

  #open(
    workspace: string,
    { secret, version, wrappedKey, fields }: StoredVersion,
    wanted: readonly string[],
  ): Promise<Values> {
    const where = [workspace, secret, version] as const
    return this.#keys.use(workspace, (workspaceKey) =>
      wiping(decrypt(workspaceKey, wrappedKey, ['version key', ...where]), (key) => {
        const open = (field: string): Uint8Array =>
          decrypt(key, fields.get(field)!, ['field', ...where, field])
        return new Map(wanted.map((field) => [field, open(field)]))
      }),
    )
  }

  async #find(asker: VaultAsker, name: string): Promise<StoredSecret> {
    if (!isSeen(asker, name)) throw new OutOfSight()
    const secret = await this.#table.find(asker.workspace, name)
    if (!secret) throw missingSecret(name)
    return secret
  }

  async #describe(asker: VaultAsker, secret: StoredSecret): Promise<SecretInfo> {
    const { id, name, lastVersion: version, createdAt } = secret
    const newest = await this.#table.findVersion(id, version)
    return {
      name,
      version,
      fields: seenFields(asker, name, newest?.fields.keys() ?? []),
      createdAt,
      updatedAt: newest?.createdAt ?? createdAt,
      updatedBy: newest?.createdBy ?? '',
    }
  }
}

function isSeen({ grant }: VaultAsker, name: string): boolean {
  return !grant || concerns(grant, name)
}

function seenFields({ grant }: VaultAsker, name: string, fields: Iterable<string>): string[] {
  const isAllowed = (field: string): boolean =>
    !grant || allowsField(grant, 'read', name, field) || allowsField(grant, 'write', name, field)
  return [...fields].filter(isAllowed)
}

/** Rejects a field that is not granted as one that is not there. */
function readableFields(
  { grant }: VaultAsker,
  name: string,
  { fields }: StoredVersion,
  field: string | undefined,
): readonly string[] {
  const isAllowed = (each: string): boolean => !grant || allowsField(grant, 'read', name, each)
  if (field === undefined) {
    const allowed = [...fields.keys()].filter(isAllowed)
    if (allowed.length > 0) return allowed
    throw denied(name, 'read')
  }
  if (!isAllowed(field)) throw new OutOfSight()
  if (!fields.has(field)) throw missingSecret(`${name}/${field}`)
  return [field]
}

/** Without a field: the secret as a whole. */
function requireWrite({ grant }: VaultAsker, name: string, field: string | undefined): void {
  if (!grant) return
  if (!concerns(grant, name)) throw new OutOfSight()
  const isAllowed =
    field === undefined
      ? allowsSecret(grant, 'write', name)
      : allowsField(grant, 'write', name, field)
  if (!isAllowed) throw denied(field === undefined ? name : `${name}/${field}`, 'write')
}

/** An edit of no field would ask no permission, and still make a version. */
function requireSomeEdit(asker: VaultAsker, name: string, edit: ValueEdit): void {
  if (edit.size > 0) return
  requireWrite(asker, name, undefined)
  throw new CairnError('invalid_argument', {
    what: `set the secret ${name}`,
    reason: 'no field is named',
    subject: name,
  })
}

function denied(what: string, verb: string): CairnError {
  return new CairnError('vault_denied', {
    what: `${verb} the secret ${what}`,
    reason: 'the grant does not allow it',
    subject: what,
  })
}

function requireSomeFields(name: string, values: Values): void {
  if (values.size > 0 && values.size <= vaultFieldsMax) return
  throw new CairnError(values.size === 0 ? 'invalid_argument' : 'too_large', {
    what: `write the secret ${name}`,
    reason:
      values.size === 0
        ? 'it would have no fields'
        : `it would have ${values.size} fields, ${vaultFieldsMax} are allowed`,
    ...(values.size === 0
      ? { hint: `Remove the whole secret instead: cairn vault rm ${name}.` }
      : {}),
    subject: name,
  })
}

function outdated(name: string, wanted: number, found: number): CairnError {
  return new CairnError('precondition_failed', {
    what: `write the secret ${name}`,
    reason: `it is at version ${found}, not ${wanted}`,
    subject: name,
  })
}

function newSecret({ workspace }: VaultAsker, name: string, made: StoredVersion): StoredSecret {
  const { secret: id, version: lastVersion, createdAt } = made
  return { workspace, name, id, lastVersion, createdAt }
}

function receiptOf(
  asker: VaultAsker,
  name: string,
  { version, fields }: StoredVersion,
): SecretReceipt {
  return { name, version, fields: seenFields(asker, name, fields.keys()) }
}
