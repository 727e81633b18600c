import { ApiError } from '../api-error.ts'

/** One line of what is like a Dockerfile. */
export interface BuildStep {
  readonly type: string
  readonly args: readonly string[]
  /** The uploaded archive of a COPY. */
  readonly filesHash?: string
  /** Runs it, and all steps after it, even where its result was kept. */
  readonly force?: boolean
}

export interface BuildSpec {
  readonly fromImage: string | undefined
  readonly fromTemplate: string | undefined
  readonly startCommand: string | undefined
  readonly readyCommand: string | undefined
  readonly steps: readonly BuildStep[]
  /** Runs all steps, also those whose result was kept. */
  readonly force: boolean
}

const stepTypes = ['RUN', 'COPY', 'ENV', 'WORKDIR', 'USER']

export function parseSpec(body: Readonly<Record<string, unknown>>): BuildSpec {
  const text = (name: string): string | undefined => {
    const value = body[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const fromImage = text('fromImage')
  const fromTemplate = text('fromTemplate')
  if ((fromImage === undefined) === (fromTemplate === undefined))
    throw new ApiError(400, 'want exactly one of fromImage and fromTemplate')
  const steps = (body['steps'] ?? []) as BuildStep[]
  for (const { type, args } of steps) {
    if (!stepTypes.includes(type)) throw new ApiError(400, `there is no step ${type}`)
    if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string'))
      throw new ApiError(400, `the arguments of ${type} must be texts`)
  }
  const commands = { startCommand: text('startCmd'), readyCommand: text('readyCmd') }
  return { fromImage, fromTemplate, ...commands, steps, force: body['force'] === true }
}
