export { handleMcpRequest, type McpHttpOptions } from './http.ts'
export type { McpOptions } from './site.ts'
export { serveMcpStdio, type StdioOptions } from './stdio.ts'
