import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Relay } from '../relay.ts'
import { isRoot } from '../users.ts'
import type { Exit } from './exit.ts'

/** The jail's own address. On the loopback, because programs look for one that is not 127.0.0.1. */
const address = '10.0.2.15'

/**
 * Every address is here: whatever a program connects to, it is this machine's loopback, and the firewall turns it to the
 * gate. Other packets than TCP have nowhere to go, and are told so.
 */
function script(pid: number): string {
  // Root outside becomes root inside; an ordinary user is root inside already, and may not change
  // its user.
  const net = `nsenter -t ${pid} -U -n${isRoot() ? '' : ' --preserve-credentials'}`
  return `${net} ip address add ${address}/32 dev lo &&
${net} ip route add local 0.0.0.0/0 dev lo src ${address} &&
exec ${net} nft -f -`
}

function ruleset(gatePort: number): string {
  return `table ip cairn {
  chain turn {
    type nat hook output priority -100
    ip daddr 127.0.0.0/8 return
    ip daddr ${address} return
    meta l4proto tcp redirect to :${gatePort}
  }
  chain refuse {
    type filter hook output priority 0
    ip daddr 127.0.0.0/8 accept
    ip daddr ${address} accept
    meta l4proto tcp accept
    reject
  }
}
`
}

/** From now on the jail has a network that ends in the exit. */
export async function openExit(relay: Relay, pid: number, exit: Exit): Promise<void> {
  const gate = await relay.openGate((socket, to, port) => void exit.admit(socket, to, port))
  exit.answer(gate.names)
  const child = spawn('sh', ['-c', script(pid)], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
  const said: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(ruleset(gate.port))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return
  const why = Buffer.concat(said).toString().trim()
  throw new Error(
    `cannot give a jail a way out: ${why}. It needs nsenter, ip and nft (Debian: apt-get install nftables iproute2); ` +
      "or make it with network: 'loopback'.",
  )
}
