import { serve } from '@cairn/server'

/** One server of several on the same stores: `server-child.ts DATA META [OBJECTS]`. Prints its address. */
const [data, meta, objects] = process.argv.slice(2)
const { url } = await serve({
  data: data!,
  listen: '127.0.0.1:0',
  meta: meta!,
  ...(objects === undefined ? {} : { objects }),
  leaseMs: 2000,
})
console.log(url)
