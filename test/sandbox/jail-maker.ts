// A process that makes a jail, says so, and waits to be killed.
import { createJail } from '@cairn/sandbox'

const jail = await createJail({ directory: process.argv[2]! })
const program = await jail.start({ args: ['sleep', '1000'] })
console.log(JSON.stringify({ id: jail.id, pid: jail.pid }))
await program.exit
