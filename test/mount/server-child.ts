import { serve } from '@cairn/server'

/** A server that gives up silent writers sooner: `server-child.ts DATA HOST:PORT LEASE_MS`. Tells its address as `cairn serve --json` does. */
const [data, listen, leaseMs] = process.argv.slice(2)
const { url } = await serve({ data: data!, listen: listen!, leaseMs: Number(leaseMs) })
console.log(JSON.stringify({ url }))
