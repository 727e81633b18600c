import { decodeBatch, hashOfRow, type LogRow, type Op, type Receipt } from '@cairn/core'
import type { Errno, SessionId } from '@cairn/protocol'
import { expect } from 'vitest'
import { sha256 } from '@cairn/server'
import type { Model } from './model.ts'

/** A batch and what its session was told. */
export interface Answered {
  readonly session: SessionId
  readonly number: number
  readonly epoch: number
  readonly ops: readonly Op[]
  /** How long the log was when the batch was first sent, and when it was answered. */
  readonly from: number
  readonly to: number
  /** How often it was sent. */
  readonly attempts: number
  /** `batch_passed_over`: it was refused before, but that answer was lost. */
  readonly answer: Receipt | Errno | 'stale_epoch' | 'batch_passed_over'
}

/** What a branch was after each number of batches, as the model has it. */
export interface Past {
  readonly models: readonly Model[]
  readonly epochs: readonly number[]
}

/** Every batch of a log must succeed on the model. `checkpoints` say after how many batches each was made. */
export function replayRows(
  rows: readonly LogRow[],
  empty: Model,
  checkpoints: ReadonlyMap<string, number>,
): Past {
  const models = [empty]
  const epochs = [1]
  for (const row of rows) {
    const { body, epoch } = decodeBatch(row.bytes)
    const model = models.at(-1)!.clone()
    if (body.type === 'ops') expect(model.apply(body.ops)).toBeUndefined()
    if (body.type === 'root') model.replaceBy(models[checkpoints.get(body.change.subject)!]!)
    models.push(model)
    epochs.push(epoch)
  }
  return { models, epochs }
}

/**
 * Whether the answer is one that a session alone with the branch could have got: a receipt names the only row with
 * the batch, and a refusal is what the model says at some moment between question and answer.
 */
export function expectTrueAnswer(answered: Answered, rows: readonly LogRow[], past: Past): void {
  const { session, number, epoch, ops, from, to, attempts, answer } = answered
  const found = rows.filter((row) => row.session === session && row.number === number)
  if (typeof answer === 'object') {
    expect(found.map(({ seq, bytes }) => ({ seq, hash: hashOfRow(bytes, sha256) }))).toEqual([
      answer,
    ])
    expect(answer.seq).toBeGreaterThan(from)
    expect(answer.seq).toBeLessThanOrEqual(to)
    expect(past.epochs[answer.seq - 1]).toBe(epoch)
    return
  }
  // One attempt went without an answer and arrived after another was refused: the client could not
  // know.
  if (attempts > 1 && found.length === 1) return
  expect(found).toEqual([])
  const moments = past.models.slice(from, to + 1).map((model, index) => {
    const isCurrent = past.epochs[from + index] === epoch
    return isCurrent ? model.clone().apply(ops) : 'stale_epoch'
  })
  if (answer === 'batch_passed_over')
    expect(moments.some((moment) => moment !== undefined)).toBe(true)
  else expect(moments).toContain(answer)
}
