import { parseProvider } from './config/parse-provider.ts'
import { placeWorkspace } from './config/placement.ts'
import { Harness, type HarnessOptions } from './harness.ts'

export { parseProvider } from './config/parse-provider.ts'
export type { HarnessWorkspace } from './config/placement.ts'
export type { ProviderConfig, ProviderInput } from './config/provider-config.ts'
export { Harness, type HarnessOptions, type RunRequest, type RunResult } from './harness.ts'
export type { Instance, InstanceStore, JobRow } from './instances/instance-store.ts'
export { openMysqlInstances } from './instances/mysql.ts'
export { openSqliteInstances } from './instances/sqlite.ts'
export type { HarnessTool } from './tools/harness-tools.ts'

/**
 * A sandbox for an agent as a stored configuration describes it, with a workspace in it. Checks the configuration, and
 * makes no machine yet.
 *
 * @example
 * ```ts
 * const harness = openHarness({
 *   config: { provider: 'e2b', network: { mode: 'allow-all' }, options: { template: 'cairn' } },
 *   workspace: { name: 'website', server, token },
 * })
 * const { stdout } = await harness.run({ code: 'npm test' })
 * ```
 */
export function openHarness(options: HarnessOptions): Harness {
  const config = parseProvider(options)
  const placement = options.workspace && placeWorkspace(options.workspace, config)
  return new Harness(options, config, placement)
}
