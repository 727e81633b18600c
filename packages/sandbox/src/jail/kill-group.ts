import type { Jail } from './jail.ts'

/** Ends a program and what it started in the background: it is the first of its session. */
export async function killGroup(jail: Jail, pid: number): Promise<void> {
  // The jail may end meanwhile, and everything with it.
  await jail
    .start({ args: ['kill', '-KILL', '--', `-${pid}`], user: 'root' })
    .catch(() => undefined)
}
