import { describe } from 'vitest'
import { runSandboxTests } from '@cairn/sandbox/testing'
import { openE2BSetup } from './e2b-setup.ts'
import { noJail } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`E2BSandbox (${noJail ?? 'as root'})`, () => {
  runSandboxTests(openE2BSetup)
})
