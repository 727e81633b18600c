import { setTimeout as sleep } from 'node:timers/promises'

/** Asks until the answer is yes. Bounded: a test that waits for ever tells nothing. */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  timeoutMs = 30_000,
): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await sleep(20)
  }
}
