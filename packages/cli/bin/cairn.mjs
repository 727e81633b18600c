#!/usr/bin/env node
// What npm links. The code is in one bundle, made by `npm run build`: loading many small files takes longer.
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  console.error(
    `cairn: needs Node 24 or newer, and this is ${process.versions.node}. In a clone, put its own Node first: export PATH="$PWD/node_modules/.bin:$PATH"`,
  )
  process.exitCode = 2
} else await import('../dist/cairn.mjs')
