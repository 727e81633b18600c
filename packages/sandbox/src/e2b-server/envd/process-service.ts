import { RpcError } from '../connect/rpc-error.ts'
import type { RpcCall, Service } from '../connect/service.ts'
import type { EnvdCaller } from './caller.ts'
import type { Process, ProcessConfig, Subscriber } from './processes.ts'
import { rpcErrors } from './rpc-errors.ts'

type Fields = Readonly<Record<string, unknown>>

interface StartRequest {
  readonly process?: Partial<ProcessConfig>
  readonly pty?: { readonly size?: { readonly cols?: number; readonly rows?: number } }
  readonly tag?: string
  readonly stdin?: boolean
}

interface Input {
  readonly stdin?: string
  readonly pty?: string
}

const signals = { SIGNAL_SIGTERM: 'SIGTERM', SIGNAL_SIGKILL: 'SIGKILL' } as const

export const processService: Service<EnvdCaller> = {
  serverStream: {
    Start: (request, send, call) =>
      rpcErrors(async () => {
        const process = await start(request as StartRequest, call)
        // A caller whose command took too long is told that, and not how the command was ended.
        const tell: Subscriber = (event) =>
          'end' in event && process.isExpired ? Promise.resolve() : send({ event })
        const followed = process.follow(tell, call.signal)
        process.begin()
        await followed
        if (process.isExpired)
          throw new RpcError('deadline_exceeded', 'the command did not end within its timeout')
      }),
    Connect: async ({ process: selector }, send, { context, signal }) => {
      const process = context.machine.processes.get(selector, { alsoEnded: true })
      await process.follow((event) => send({ event }), signal)
    },
  },
  clientStream: {
    StreamInput: async (requests, { context }) => {
      let process: Process | undefined
      for await (const { start: opened, data } of requests) {
        if (opened !== undefined) process = select(opened, context)
        const input = (data as { input?: Input } | undefined)?.input
        if (input === undefined) continue
        if (process === undefined)
          throw new RpcError('invalid_argument', 'no process was named yet')
        await feed(process, input)
      }
      return {}
    },
  },
  unary: {
    List: async (_, { context }) => ({
      processes: context.machine.processes
        .list()
        .map(({ config, pid, tag }) => ({ config, pid, ...(tag === undefined ? {} : { tag }) })),
    }),
    SendInput: async (request, { context }) => {
      await feed(select(request, context), (request['input'] ?? {}) as Input)
      return {}
    },
    CloseStdin: async (request, { context }) => {
      select(request, context).closeInput()
      return {}
    },
    SendSignal: async (request, { context }) => {
      const signal = signals[request['signal'] as keyof typeof signals]
      if (signal === undefined)
        throw new RpcError('invalid_argument', `there is no signal ${String(request['signal'])}`)
      select(request, context).signal(signal)
      return {}
    },
    Update: async (request, { context }) => {
      const process = select(request, context)
      const size = sizeOf(request as StartRequest)
      if (size !== undefined) process.resize(size.columns, size.rows)
      return {}
    },
  },
}

async function start(request: StartRequest, call: RpcCall<EnvdCaller>): Promise<Process> {
  const { context: caller, timeoutMs } = call
  const { machine, userName } = caller
  const { cmd = '', args = [], envs = {}, cwd } = request.process ?? {}
  const pty = sizeOf(request)
  return machine.processes.start({
    config: { cmd, args, envs, ...(cwd === undefined ? {} : { cwd }) },
    tag: request.tag,
    timeoutMs,
    command: {
      args: [cmd, ...args],
      env: { ...machine.settings.env, ...envs },
      cwd: await caller.resolve(cwd ?? ''),
      user: userName,
      stdin: request.stdin === false ? 'none' : 'pipe',
      ...(pty === undefined ? {} : { pty }),
    },
  })
}

function sizeOf({ pty }: StartRequest): { columns: number; rows: number } | undefined {
  return pty === undefined
    ? undefined
    : { columns: pty.size?.cols ?? 80, rows: pty.size?.rows ?? 24 }
}

function select(request: unknown, { machine }: EnvdCaller): Process {
  return machine.processes.get((request as Fields)['process'])
}

async function feed(process: Process, { stdin, pty }: Input): Promise<void> {
  if (pty !== undefined) await process.input('pty', Buffer.from(pty, 'base64'))
  else await process.input('stdin', Buffer.from(stdin ?? '', 'base64'))
}
