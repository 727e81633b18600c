/** A process that answers the kernel for a workspace in a jail. Started by JailMount, outside of the jail. */
import { enableCompileCache } from 'node:module'

// Half of the time until a workspace is there would go into reading the same code again.
enableCompileCache()
const { daemonMain } = await import('@cairn/mount')
process.exit(await daemonMain())
