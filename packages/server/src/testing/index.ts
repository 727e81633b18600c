export * from './memory-directory.ts'
export * from './memory-lease-store.ts'
