/** What requests do, for tests that have servers and no HTTP. */
export { appendFile } from '../files/changes.ts'
export { createLayer } from '../layers/layers.ts'
export { findLayer } from '../layers/references.ts'
export { rollBack } from '../layers/rollbacks.ts'
export { commit, rebase } from '../layers/root-changes.ts'
