import { afterAll, beforeAll } from 'vitest'
import { runTool, type ToolOutcome, tools, type ToolSite } from '@cairn/agents'
import { Cairn } from '@cairn/sdk'
import { startServer, type TestServer } from '../e2e/start-server.ts'

export interface AgentSite {
  readonly server: () => TestServer
  /** Runs a tool in the workspace `w`, as its owner unless another key is given. */
  readonly run: (name: string, input: unknown, site?: Partial<ToolSite>) => Promise<ToolOutcome>
  /** What it gives, after it has succeeded. */
  readonly data: <T>(name: string, input: unknown, site?: Partial<ToolSite>) => Promise<T>
  /** What the model reads, after it has failed. */
  readonly failure: (name: string, input: unknown, site?: Partial<ToolSite>) => Promise<string>
  /** Another client of the same server. */
  readonly as: (apiKey: string) => Cairn
}

/** A real server with an empty workspace `w`. */
export function useAgentSite(): AgentSite {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
    await server.cairn.workspaces.create('w')
  })
  afterAll(() => server.stop())

  const run: AgentSite['run'] = (name, input, site) => {
    const tool = tools.find((one) => one.name === name)
    if (!tool) throw new Error(`there is no tool ${name}`)
    return runTool(tool, input, { cairn: server.cairn, workspace: 'w', ...site })
  }
  return {
    server: () => server,
    run,
    data: async <T>(name: string, input: unknown, site?: Partial<ToolSite>) => {
      const outcome = await run(name, input, site)
      if (outcome.isError) throw new Error(outcome.text)
      const tool = tools.find((one) => one.name === name)!
      // What is promised to programs is what they get.
      tool.output.strict().parse(outcome.data)
      return outcome.data as T
    },
    failure: async (name, input, site) => {
      const outcome = await run(name, input, site)
      if (!outcome.isError) throw new Error(`${name} succeeded: ${outcome.text}`)
      return outcome.text
    },
    as: (apiKey) => new Cairn({ server: server.url, apiKey }),
  }
}
