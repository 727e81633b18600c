export * from './sandbox-contract.ts'
