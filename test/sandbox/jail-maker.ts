// A process that makes a jail, says so, and waits to be killed.
import { createJail } from '@cairn/sandbox'
import { noDiskLimit } from './local-setup.ts'

const limits = noDiskLimit === undefined ? { diskBytes: 64 << 20 } : {}
const jail = await createJail({ directory: process.argv[2]!, limits })
const program = await jail.start({ args: ['sleep', '1000'] })
console.log(JSON.stringify({ id: jail.id, pid: jail.pid }))
await program.exit
