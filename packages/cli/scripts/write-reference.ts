// Writes docs/reference/cli.md from the specs of the commands. A test compares, so it cannot be forgotten.
import { writeFile } from 'node:fs/promises'
import { renderReference } from '../src/help/render-reference.ts'

await writeFile(new URL('../../../docs/reference/cli.md', import.meta.url), await renderReference())
