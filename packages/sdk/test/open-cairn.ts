import { Cairn, type CairnOptions } from '../src/cairn.ts'
import { type CairnError, isCairnError } from '../src/client/error.ts'
import type { Workspace } from '../src/workspace.ts'
import { type Answer, startStub, type Stub } from './stub-server.ts'
import { TestClock } from './test-clock.ts'

export interface TestCairn extends Stub {
  readonly cairn: Cairn
  readonly workspace: Workspace
  readonly clock: TestClock
}

/** A client of a stub that gives these answers. */
export async function openCairn(
  answers: readonly Answer[] | Answer,
  options: Partial<CairnOptions> = {},
): Promise<TestCairn> {
  const stub = await startStub(answers)
  const clock = new TestClock()
  const cairn = new Cairn({ server: stub.url, apiKey: 'key-1', clock, ...options })
  return { ...stub, cairn, workspace: cairn.workspace('w'), clock }
}

/** What a call fails with; anything but a CairnError is itself a failure. */
export async function failureOf(promise: Promise<unknown>): Promise<CairnError> {
  const outcome = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (isCairnError(outcome)) return outcome
  throw new Error(`wanted a CairnError, got ${String(outcome)}`, { cause: outcome })
}
