/** `npm run quickstart`: a workspace outlives the sandbox that made it. */
import { startExample } from '../support/run-example.ts'
import { handoff } from './handoff.ts'

await startExample(handoff)
