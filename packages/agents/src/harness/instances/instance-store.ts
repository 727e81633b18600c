/** Which machine is reserved under a key. */
export interface Instance {
  readonly provider: string
  readonly reservationKey: string
  /** The provider's name of the machine. */
  readonly externalId: string
  /** What is mounted in it; a machine is never used for another workspace. Absent without one. */
  readonly workspace?: {
    readonly name: string
    readonly layer?: string
    readonly mountPath: string
  }
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
}

/** The result row of a command in the background. */
export interface JobRow {
  readonly id: string
  readonly provider: string
  readonly reservationKey: string
  readonly externalId: string
  readonly status: 'running' | 'completed' | 'failed'
  /** SHA-256 of the token that its callback shows, in hex. */
  readonly tokenHash: string
  readonly exitCode?: number
  readonly logs?: string
  readonly error?: string
  /** Its result was given to a caller: it is not delivered twice. */
  readonly observed: boolean
}

/**
 * Where reservations and jobs are kept. Several processes may use one. Keys are compared byte for byte. A method that
 * resolves has changed what the next reader sees.
 */
export interface InstanceStore {
  find(provider: string, reservationKey: string): Promise<Instance | undefined>
  /** False, and nothing changed, where the key is reserved already. */
  claim(instance: Instance): Promise<boolean>
  /** Records a use. False when the key is not reserved for that machine any more. */
  touch(instance: Instance): Promise<boolean>
  /** False when it was not reserved for that machine. */
  release(provider: string, reservationKey: string, externalId: string): Promise<boolean>
  /** All of them; unordered. */
  list(provider: string): Promise<Instance[]>
  /** Rejects where there is a job of that id. */
  addJob(job: JobRow): Promise<void>
  findJob(id: string): Promise<JobRow | undefined>
  /** Once: false when it was settled before. */
  settleJob(job: JobRow): Promise<boolean>
  /** True for the first caller after it was settled. */
  observeJob(id: string): Promise<boolean>
  close(): Promise<void>
}
