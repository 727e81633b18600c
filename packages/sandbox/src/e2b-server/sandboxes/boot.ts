import type { Jail } from '../../jail/jail.ts'
import { Machine } from '../envd/machine.ts'
import { egressOf } from './egress.ts'
import { logProcess } from '../logs/log-process.ts'
import type { Host } from './host.ts'
import type { SandboxRecord } from './record.ts'

/** Names the sandbox where E2B's tools look. */
const bootScript = `
mkdir -p /run/e2b
printf %s true > /run/e2b/.E2B_SANDBOX
printf %s "$E2B_SANDBOX_ID" > /run/e2b/.E2B_SANDBOX_ID
printf %s "$E2B_TEMPLATE_ID" > /run/e2b/.E2B_TEMPLATE_ID
`
const readyWithinMs = 60_000
const readyEveryMs = 50

/** A jail for the sandbox, with everything in it that was asked for; or none at all. */
export async function bootMachine(record: SandboxRecord, host: Host): Promise<Machine> {
  const { id, templateId, disk, cpuCount, memoryMB, settings } = record
  const jail = await host.makeJail({
    directory: host.jails,
    id,
    base: host.disks.base(disk),
    hostname: 'e2b.local',
    network: 'egress',
    egress: egressOf(record),
    limits: { memoryBytes: memoryMB * 2 ** 20, cpus: cpuCount, processes: 4096 },
  })
  try {
    const names = { E2B_SANDBOX: 'true', E2B_SANDBOX_ID: id, E2B_TEMPLATE_ID: templateId }
    const env = { ...settings.env, ...names }
    await runRoot(jail, bootScript, env)
    const log = host.logs.of(id)
    const machine = new Machine(jail, { ...settings, env }, (process) => logProcess(log, process))
    for (const mount of record.volumeMounts) await host.mountVolume(jail, mount)
    await startService(machine, record)
    return machine
  } catch (error) {
    await jail.kill()
    await host.settleVolumes(jail)
    throw error
  }
}

async function runRoot(
  jail: Jail,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const command = { args: ['/bin/sh', '-c', script], env, cwd: '/', user: 'root' }
  const { stdout, stderr, exit } = await jail.start(command)
  stdout.resume()
  const told = stderr.toArray()
  const { code } = await exit
  if (code !== 0)
    throw new Error(
      `cannot set up the sandbox: ${Buffer.concat(await told)
        .toString()
        .trim()}`,
    )
}

type Service = Pick<SandboxRecord, 'settings'> &
  Partial<Pick<SandboxRecord, 'startCommand' | 'readyCommand'>>

/** What a template starts in every sandbox; it is there when the sandbox is. */
export async function startService(
  machine: Machine,
  { startCommand, readyCommand, settings }: Service,
): Promise<void> {
  if (startCommand === undefined) return
  const process = await machine.processes.start({
    config: { cmd: '/bin/bash', args: ['-l', '-c', startCommand], envs: {} },
    tag: undefined,
    timeoutMs: undefined,
    command: commandOf(startCommand, machine, settings),
  })
  process.begin()
  if (readyCommand === undefined) return
  const deadline = performance.now() + readyWithinMs
  while (!(await succeeds(readyCommand, machine, settings))) {
    if (performance.now() > deadline)
      throw new Error(`the ready command did not succeed within ${readyWithinMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, readyEveryMs))
  }
}

async function succeeds(
  command: string,
  machine: Machine,
  settings: SandboxRecord['settings'],
): Promise<boolean> {
  const { stdout, stderr, exit } = await machine.jail.start(commandOf(command, machine, settings))
  stdout.resume()
  stderr.resume()
  return (await exit).code === 0
}

function commandOf(
  command: string,
  machine: Machine,
  { user, workDir }: SandboxRecord['settings'],
): Parameters<Jail['start']>[0] {
  const args = ['/bin/bash', '-l', '-c', command]
  return {
    args,
    env: machine.settings.env,
    user,
    ...(workDir === undefined ? {} : { cwd: workDir }),
  }
}
