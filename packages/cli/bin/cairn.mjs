#!/usr/bin/env node
// What npm links. The code is in one bundle, made by `npm run build`: loading many small files takes longer.
import '../dist/cairn.mjs'
