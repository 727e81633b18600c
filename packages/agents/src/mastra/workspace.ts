export { CairnFilesystem } from './filesystem.ts'
export { CairnSandbox } from './sandbox.ts'
export { cairnToolCalls } from './tool-calls.ts'
