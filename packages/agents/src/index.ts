export { tools, toolsFor } from './registry.ts'
export { runTool, type ToolOutcome } from './run-tool.ts'
export type { Effect, Tool, ToolAnswer, ToolShell, ToolSite } from './tool.ts'
export { grantOfKey } from './token-grant.ts'
