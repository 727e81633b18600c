/** A process that answers the kernel for a workspace in a jail. Started by JailMount, outside of the jail. */
import { daemonMain } from '@cairn/mount'

process.exit(await daemonMain())
