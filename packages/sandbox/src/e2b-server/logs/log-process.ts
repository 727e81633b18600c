import type { Process, ProcessEvent } from '../envd/processes.ts'
import type { SandboxLog } from './sandbox-log.ts'

/** Notes when a process starts and ends and what it prints. What a terminal shows is not kept. */
export function logProcess(log: SandboxLog, process: Process): void {
  const { cmd, args } = process.config
  const pid = String(process.pid)
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const output = async (kind: 'stdout' | 'stderr', base64: string): Promise<void> => {
    const text = decoders[kind].decode(Buffer.from(base64, 'base64'), { stream: true })
    await log.add(text.replace(/\n$/, ''), { logger: 'process', pid, event_type: kind })
  }
  const note = async (event: ProcessEvent): Promise<void> => {
    if ('start' in event) {
      // The SDK has a shell run each command.
      const line = args.at(-2) === '-c' ? args.at(-1) : [cmd, ...args].join(' ')
      await log.add(`process started: ${line}`, { logger: 'process', pid, event_type: 'start' })
    } else if ('end' in event) {
      const { status, exitCode } = event.end
      const level = exitCode === 0 ? 'info' : 'error'
      const fields = { logger: 'process', pid, event_type: 'end' }
      await log.add(`process ended: ${status}`, fields, level)
    } else if ('stdout' in event.data) await output('stdout', event.data.stdout)
    else if ('stderr' in event.data) await output('stderr', event.data.stderr)
  }
  void process.follow(note, new AbortController().signal)
}
