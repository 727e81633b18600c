import { CairnError, isCairnError, type VaultOutcome } from '@cairn/protocol'
import type { Statement } from '../storage/database.ts'
import type { StoredGrant } from '../storage/vault-grant-table.ts'
import type { NewAuditEntry, VaultAuditTable } from '../storage/vault-audit-table.ts'
import { type Clock, isoTime } from '../ports/clock.ts'

/** Who asks something of the vault of a workspace. */
export interface VaultAsker {
  readonly workspace: string
  readonly actor: string
  /** Absent for a caller that may do everything. */
  readonly grant?: StoredGrant
  readonly toolCall?: string | undefined
  readonly requestId?: string
  /** The same key again is the same request again. */
  readonly idempotencyKey?: string | undefined
}

/** What is asked for. */
export interface VaultAct {
  readonly action: string
  readonly secret?: string
  readonly field?: string
  readonly version?: number
}

/** Records what is done and refused, before the answer is sent. */
export class VaultAudit {
  readonly #table: VaultAuditTable
  readonly #clock: Clock

  constructor(table: VaultAuditTable, clock: Clock) {
    this.#table = table
    this.#clock = clock
  }

  /**
   * Notes the refusal, should `work` be refused, and rejects with what it was. `work` notes its own success: a change
   * in the same transaction, a read before it gives the value away.
   */
  async refusals<T>(asker: VaultAsker, act: VaultAct, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const outcome = outcomeOf(error)
      if (outcome) await this.note(asker, act, outcome)
      throw error instanceof OutOfSight ? missingSecret(nameOf(act)) : error
    }
  }

  async note(asker: VaultAsker, act: VaultAct, outcome: VaultOutcome): Promise<void> {
    await this.#table.add(asker.workspace, this.#entry(asker, act, outcome))
  }

  /** To be written with the change that it is about. */
  statements(asker: VaultAsker, act: VaultAct): Statement[] {
    return this.#table.statements(asker.workspace, this.#entry(asker, act, 'ok'))
  }

  #entry(asker: VaultAsker, act: VaultAct, outcome: VaultOutcome): NewAuditEntry {
    const { actor, grant, toolCall, requestId } = asker
    return {
      time: isoTime(this.#clock.now()),
      actor,
      ...act,
      outcome,
      ...(grant ? { agent: grant.agent } : {}),
      ...(toolCall === undefined ? {} : { toolCall }),
      ...(requestId === undefined ? {} : { requestId }),
    }
  }
}

/** It is not granted. The audit is told so; who asks is told that there is none. */
export class OutOfSight extends Error {
  override readonly name = 'OutOfSight'
}

export function missingSecret(what: string, why = 'no secret has this name'): CairnError {
  return new CairnError('secret_missing', {
    what: `find the secret ${what}`,
    reason: why,
    subject: what,
  })
}

function nameOf({ secret = '', field }: VaultAct): string {
  return field === undefined ? secret : `${secret}/${field}`
}

function outcomeOf(error: unknown): VaultOutcome | undefined {
  if (error instanceof OutOfSight || isCairnError(error, 'vault_denied')) return 'denied'
  return isCairnError(error, 'secret_missing') ? 'missing' : undefined
}
