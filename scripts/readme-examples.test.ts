import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Below node_modules, where git and editors do not look, and where `@cairn/…` resolves. */
const folder = 'node_modules/.cairn-readmes'

it('the examples in the packages’ READMEs compile', () => {
  const packages = readdirSync('packages', { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  )
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files = packages.flatMap(({ name }) =>
    examplesOf(`packages/${name}/README.md`).map((code, index) => {
      const file = `${name}-${index}.mts`
      writeFileSync(`${folder}/${file}`, code)
      return file
    }),
  )
  expect(files.length).toBeGreaterThanOrEqual(packages.length - 1)
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(configOf(files)))
  const { stdout, status } = spawnSync('npx', ['tsc', '-p', folder], { encoding: 'utf8' })
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
})

function examplesOf(readme: string): string[] {
  const text = readFileSync(readme, 'utf8')
  return [...text.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)
}

function configOf(files: readonly string[]): object {
  return {
    extends: '../../tsconfig.base.json',
    compilerOptions: {
      types: ['node'],
      rootDir: '../..',
      composite: false,
      declarationMap: false,
      isolatedDeclarations: false,
      noEmit: true,
      tsBuildInfoFile: null,
    },
    files,
    include: [],
  }
}
