export { blobStoreCases } from './blob-store.ts'
export { codeOf, expect, expectCode, rejectionOf } from './expect.ts'
export { logStoreCases } from './log-store.ts'
export { nodeStoreCases } from './node-store.ts'
export { refStoreCases } from './ref-store.ts'
export {
  casesOf,
  casesOn,
  type StoreCase,
  type StoreTest,
  uniqueHash,
  uniqueId,
} from './store-case.ts'
