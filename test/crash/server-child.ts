import { serve } from '@cairn/server'

/** The server in a process that may be killed: `server-child.ts DATA`. Prints its address on a line of its own. */
const { url } = await serve({ data: process.argv[2]!, listen: '127.0.0.1:0' })
console.log(url)
