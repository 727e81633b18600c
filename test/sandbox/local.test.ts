import { describe } from 'vitest'
import { runSandboxTests } from '@cairn/sandbox/testing'
import { noJail, openLocalSetup } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`LocalSandbox (${noJail ?? 'as root'})`, () => {
  runSandboxTests(openLocalSetup)
})
