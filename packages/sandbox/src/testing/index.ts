export { runSandboxTests, type SandboxSetup } from './sandbox-contract.ts'
