import { type Batch, decodeBatch, type LogRow } from '@cairn/core'
import { MemoryLogStore, MemoryRefStore } from '@cairn/core/testing'
import { CairnError } from '@cairn/protocol'
import { vi } from 'vitest'
import { MemoryLayerStore } from '../src/testing/memory-layer-store.ts'

/** A memory store falls silent once, at the first call that is meant: what it was asked for does not happen. */
export function cutOnce<Store extends object>(
  { prototype }: { readonly prototype: Store },
  method: keyof Store & string,
  isMeant: (...args: never[]) => boolean = () => true,
): void {
  const original = prototype[method] as (...args: never[]) => unknown
  let isCut = false
  vi.spyOn(prototype as Record<string, typeof original>, method).mockImplementation(function (
    this: Store,
    ...args: never[]
  ) {
    if (isCut || !isMeant(...args)) return original.apply(this, args)
    isCut = true
    return Promise.reject(
      new CairnError('storage_unavailable', { what: 'go on', reason: 'the store is silent' }),
    )
  })
}

/** The same at the write of that number, whichever store it goes to. */
export function cutWrite(number: number): void {
  let left = number
  const isMeant = (): boolean => left-- === 0
  cutOnce(MemoryLogStore, 'append', isMeant)
  cutOnce(MemoryRefStore, 'updateBranch', isMeant)
  cutOnce(MemoryRefStore, 'putCheckpoint', isMeant)
  cutOnce(MemoryLayerStore, 'update', isMeant)
  cutOnce(MemoryLayerStore, 'putAnswer', isMeant)
}

/** The same where a batch that is meant would come into a log. */
export function cutAppend(isMeant: (batch: Batch) => boolean): void {
  cutOnce(MemoryLogStore, 'append', (_branch: unknown, rows: readonly LogRow[]) =>
    rows.some(({ bytes }) => isMeant(decodeBatch(bytes))),
  )
}
