#!/usr/bin/env node
// What npm links. The code is in one bundle, made by `npm run build`: loading many small files takes longer.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
// zstd came to Node with 22.15 and 23.8.
if (major < 22 || (major === 22 && minor < 15)) {
  console.error(
    `cairn: needs Node 22.15 or newer, and this is ${process.versions.node}. Install one from https://nodejs.org, or put one from npm first: npm install node@24; export PATH="$PWD/node_modules/.bin:$PATH"`,
  )
  process.exitCode = 2
} else await import('../dist/cairn.mjs')
