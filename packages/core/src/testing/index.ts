export * from './memory-blob-store.ts'
export * from './memory-log-store.ts'
export * from './memory-node-store.ts'
export * from './memory-ref-store.ts'
