#!/usr/bin/env node
// What npm links. The code is in one bundle, made by `npm run build`: loading many small files takes longer.
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  console.error(
    `cairn: needs Node 24 or newer, and this is ${process.versions.node}. Run it with: npx cairn`,
  )
  process.exitCode = 2
} else await import('../dist/cairn.mjs')
