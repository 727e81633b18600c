import { endProcess } from './end-process.ts'
import { processWord } from './mount/processes.ts'

const argv = process.argv.slice(2)

// What the others need is not loaded: until a mount is there, its processes do little else than load.
if (argv[0] === processWord) {
  const { runMountProcess } = await import('./mount/run-process.ts')
  endProcess(await runMountProcess(argv[1], argv[2]))
} else {
  if (argv[0] === 'mount' || argv[0] === 'exec')
    (await import('./mount/early-start.ts')).startEarly(argv)
  const { runCommand } = await import('./run-command.ts')
  await runCommand(argv)
}
