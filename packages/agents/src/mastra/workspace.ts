export { CairnFilesystem } from './filesystem.ts'
export { CairnSandbox } from './sandbox.ts'
