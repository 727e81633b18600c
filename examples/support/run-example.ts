import { Cleanups } from './cleanups.ts'
import { optionsHelp, readSettings, type Settings, UsageError } from './settings.ts'
import { printSteps, type Steps } from './steps.ts'
import { openWorld, type World } from './world.ts'

export interface Example {
  /** What it is, in a line. */
  readonly title: string
  /** How it is started: the words before the options, and options of its own. */
  readonly usage: string
  /** False when something is not as it must be; that has been told. */
  readonly tell: (world: World, steps: Steps, settings: Settings) => Promise<boolean>
}

/** An example as a program: gives its exit code once everything is cleaned up. */
export async function runExample(
  example: Example,
  args: readonly string[],
  steps: Steps = printSteps(),
  interrupt?: AbortSignal,
): Promise<number> {
  const cleanups = new Cleanups()
  try {
    const settings = readSettings(args, process.env)
    if (settings.help) {
      steps.say(`${example.title}\n\n${example.usage}${optionsHelp}`)
      return 0
    }
    steps.say(`${example.title}\n`)
    const story = openWorld(settings, cleanups, steps).then((world) =>
      example.tell(world, steps, settings),
    )
    // When it is interrupted, it fails because its sandboxes are removed; that error is not of
    // interest.
    story.catch(() => undefined)
    return (await Promise.race([story, whenAborted(interrupt)])) ? 0 : 1
  } catch (error) {
    if (interrupt?.aborted) return interruptedCode
    console.error(`\n${error instanceof Error ? error.message : String(error)}`)
    return error instanceof UsageError ? 2 : 1
  } finally {
    await cleanups.run()
  }
}

/** As a shell tells of a program that Ctrl-C ended. */
const interruptedCode = 130

function whenAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Runs it with the arguments of this process. Ctrl-C leaves nothing behind; a second one does not wait. */
export async function startExample(example: Example): Promise<void> {
  const interrupt = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.error('\ncleaning up')
      interrupt.abort()
    })
  process.exitCode = await runExample(
    example,
    process.argv.slice(2),
    printSteps(),
    interrupt.signal,
  )
}
