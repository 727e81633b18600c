import { type Batch, decodeBatch, type LogRow } from '@cairn/core'
import { MemoryLogStore } from '@cairn/core/testing'
import { CairnError } from '@cairn/protocol'
import { vi } from 'vitest'

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
      new CairnError('storage_unavailable', { message: 'cannot go on: the store is silent' }),
    )
  })
}

/** The same where a batch that is meant would come into a log. */
export function cutAppend(isMeant: (batch: Batch) => boolean): void {
  cutOnce(MemoryLogStore, 'append', (_branch: unknown, rows: readonly LogRow[]) =>
    rows.some(({ bytes }) => isMeant(decodeBatch(bytes))),
  )
}
