import { endProcess } from './end-process.ts'
import { startEarly } from './mount/early-start.ts'
import { processWord } from './mount/processes.ts'

const argv = process.argv.slice(2)

// What the other one needs is not loaded: for a process of a mount that is half of the time until it is there.
if (argv[0] === processWord) {
  const { runMountProcess } = await import('./mount/run-process.ts')
  endProcess(await runMountProcess(argv[1]))
} else {
  startEarly(argv)
  const { runCommand } = await import('./run-command.ts')
  await runCommand(argv)
}
