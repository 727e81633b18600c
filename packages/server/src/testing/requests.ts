/** What requests do, for tests that have servers and no HTTP. */
export { appendFile } from '../files/changes.ts'
export { createLayer } from '../layers/layers.ts'
export { findLayer } from '../points/references.ts'
export { rollBack } from '../merging/rollbacks.ts'
export { commit, rebase } from '../merging/commit-and-rebase.ts'
