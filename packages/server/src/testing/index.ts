export * from './memory-directory.ts'
