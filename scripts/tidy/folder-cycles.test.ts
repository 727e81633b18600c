import { describe, expect, it } from 'vitest'
import { cycleRemedy, findFolderCycles } from './folder-cycles.ts'

const file = (path: string, imported: string): { path: string; text: string } => ({
  path: `packages/core/src/${path}`,
  text: `\nimport { a } from '${imported}'\n`,
})
const [tree, history, layers] = ['tree', 'history', 'layers'].map(
  (name) => `packages/core/src/${name}`,
)
const twoWay = [
  file('tree/apply.ts', '../history/log.ts'),
  file('history/log.ts', '../tree/apply.ts'),
]

describe('findFolderCycles', () => {
  it('names two folders that import each other once, with the place and the remedy', () => {
    expect(findFolderCycles(twoWay, [])).toEqual([
      `packages/core/src/tree/apply.ts:2 closes the cycle ${tree} -> ${history} -> ${tree}. ${cycleRemedy}`,
    ])
  })

  it('names a longer cycle', () => {
    const files = [
      file('tree/apply.ts', '../history/log.ts'),
      file('history/log.ts', '../layers/merge.ts'),
      file('layers/merge.ts', '../tree/diff.ts'),
    ]
    const [message, ...others] = findFolderCycles(files, [])
    expect(message).toContain(`${tree} -> ${history} -> ${layers} -> ${tree}`)
    expect(others).toEqual([])
  })

  it('accepts a cycle that a known import closes', () => {
    expect(findFolderCycles(twoWay, [`${tree} -> ${history}`])).toEqual([])
  })

  it('refuses a known import that is gone, or that closes no cycle', () => {
    const known = [`${tree} -> ${history}`]
    const message = `scripts/tidy/folder-cycles.ts lists ${known[0]}, which closes no cycle. Remove it.`
    expect(findFolderCycles([], known)).toEqual([message])
    expect(findFolderCycles([file('tree/apply.ts', '../history/log.ts')], known)).toEqual([message])
  })

  it('accepts a folder and its own subfolder, the root of a package, and what a test imports', () => {
    const files = [
      file('filesystem/view.ts', './rules/data.ts'),
      file('filesystem/rules/data.ts', '../view.ts'),
      file('index.ts', './tree/apply.ts'),
      file('tree/apply.ts', '../index.ts'),
      file('tree/apply.test.ts', '../history/log.ts'),
      file('history/log.ts', '../tree/apply.ts'),
    ]
    expect(findFolderCycles(files, [])).toEqual([])
  })
})
