// A process that writes into a workspace in a sandbox when it is told to, says so, and waits to be killed.
import { once } from 'node:events'
import { LocalSandbox } from '@cairn/sandbox'

const [directory, name] = process.argv.slice(2) as [string, string]
const sandbox = new LocalSandbox({ directory, workspace: { name } })
await sandbox.init()
console.log('ready')
await once(process.stdin, 'data')
await sandbox.exec('for i in $(seq 1 300); do echo number $i > file-$i; done')
console.log('written')
await sandbox.exec('sleep 1000')
