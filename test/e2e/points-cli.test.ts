// Every fs command on a layer, at a checkpoint of it, and on the sides of a conflict.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LayerConflict, Workspace } from '@cairn/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn, 'prod')
let workspace: Workspace

const enter = async (name: string): Promise<void> => {
  workspace = await server.enter(name)
}

describe('a layer and a checkpoint', () => {
  const on = ['--layer', 'try']
  const then = ['--layer', 'try', '--at', 'then']

  beforeAll(async () => {
    await enter('points')
    await workspace.files.write('/repo/main.txt', 'main\n')
    await workspace.layers.create('/repo', { name: 'try' })
    const { files } = workspace.layer('try')
    await files.write('/repo/then.txt', 'then\n')
    await workspace.layers.checkpoint('try', { label: 'then' })
    await files.write('/repo/then.txt', 'then\nnow\n')
    await files.write('/repo/now.txt', 'now\n')
  })

  const local = (): string => join(cairn.home(), 'copied.txt')
  const copied = async (...point: string[]): Promise<string> => {
    await cairn.text('fs', 'cp', ':/repo/then.txt', local(), ...point)
    return readFileSync(local(), 'utf8')
  }
  const read = (...words: string[]) => {
    return (...point: string[]): Promise<string> => cairn.text('fs', ...words, ...point)
  }

  const readers: Readonly<
    Record<string, [ask: (...point: string[]) => Promise<string>, now: RegExp, then: RegExp]>
  > = {
    cat: [read('cat', ':/repo/then.txt'), /^then\nnow\n$/, /^then\n$/],
    ls: [read('ls', ':/repo'), /^main.txt\nnow.txt\nthen.txt\n$/, /^main.txt\nthen.txt\n$/],
    stat: [read('stat', ':/repo/then.txt'), /size: +9\n/, /size: +5\n/],
    find: [read('find', ':/repo', '-name', 'n*'), /^\/repo\/now.txt\n$/, /^$/],
    cp: [copied, /^then\nnow\n$/, /^then\n$/],
    log: [read('log'), /now\.txt/, /^(?![^]*now\.txt)[^]*then\.txt/],
    'log PATH': [read('log', ':/repo'), /now\.txt/, /^(?![^]*now\.txt)[^]*then\.txt/],
    blame: [read('blame', ':/repo/then.txt'), /then\n[^]*now\n$/, /^[^\n]*then\n$/],
    grep: [read('grep', '^(then|now)', ':/repo'), /:2:1:now\n/, /^[^\n]*then\.txt:1:1:then\n$/],
    search: [
      read('search', 'then', ':/repo', '-g', 'then.txt'),
      /^\/repo\/then.txt:1\n {4}then\n {4}now\n$/,
      /^\/repo\/then.txt:1\n {4}then\n$/,
    ],
    archive: [read('archive', ':/repo', '-'), /now\.txt[^]*then\nnow\n/, /^(?![^]*now)[^]*then\n/],
  }

  it.each(Object.entries(readers))(
    '%s reads the layer, and the checkpoint',
    async (_, [ask, now, past]) => {
      expect(await ask(...on)).toMatch(now)
      expect(await ask(...then)).toMatch(past)
      expect(await ask('--at', 'then')).toMatch(past)
    },
  )

  const writers: Readonly<Record<string, (name: string) => string[]>> = {
    cp: (name) => ['cp', local(), `:/repo/${name}`],
    'cp -': (name) => ['cp', '-', `:/repo/${name}`],
    'cp --append': (name) => ['cp', '--append', local(), `:/repo/${name}`],
    'cp of the same workspace': (name) => ['cp', ':/repo/then.txt', `:/repo/${name}`],
    mv: (name) => ['mv', ':/repo/main.txt', `:/repo/${name}`],
    rm: () => ['rm', ':/repo/then.txt'],
    'rm -rf': () => ['rm', '-rf', ':/repo'],
    mkdir: (name) => ['mkdir', `:/repo/${name}`],
    chmod: () => ['chmod', '600', ':/repo/then.txt'],
    tag: () => ['tag', ':/repo/then.txt', 'k=v'],
    symlink: (name) => ['symlink', 'then.txt', `:/repo/${name}`],
    hardlink: (name) => ['hardlink', ':/repo/then.txt', `:/repo/${name}`],
    import: (name) => ['import', emptyArchive(), `:/repo/${name}`],
    undo: () => ['undo', '--tool-call', 'call-1'],
  }
  const emptyArchive = (): string => {
    const path = join(cairn.home(), 'empty.tar')
    writeFileSync(path, Buffer.alloc(1024))
    return path
  }

  it.each(Object.entries(writers))('%s is refused at a checkpoint', async (_, words) => {
    writeFileSync(local(), 'mine\n')
    const error = await cairn.error('fs', ...words('refused'), ...then)
    expect(error).toMatchObject({
      code: 'read_only',
      exit: 8,
      message: expect.stringContaining(
        'a checkpoint does not change. Write to the branch',
      ) as string,
    })
    const names: string[] = []
    for await (const { name } of workspace.layer('try').files.list('/repo')) names.push(name)
    expect(names).toEqual(['main.txt', 'now.txt', 'then.txt'])
  })

  it('the two tables above name every fs command', async () => {
    const help = await cairn.text('fs', '--help')
    const listed = /^Commands:\n([^]*?)\n\n/m.exec(help)![1]!.match(/(?<=^ {2})\w+/gm)
    const asked = new Set([...Object.keys(readers), ...Object.keys(writers)].map(firstWord))
    expect(listed!.filter((name) => name !== 'layer').sort()).toEqual([...asked].sort())
  })
})

const firstWord = (text: string): string => text.split(' ')[0]!

describe('the sides of a conflict', () => {
  let refused: Awaited<ReturnType<typeof cairn.run>>

  /** In the layer a directory, in main a file; and a file that both renamed. */
  beforeAll(async () => {
    await enter('sides')
    await workspace.files.write('/repo/old.txt', 'base\n')
    await workspace.layers.create('/repo', { name: 'try' })
    const { files } = workspace.layer('try')
    await files.write('/repo/thing/part.txt', 'layer\n')
    await files.move('/repo/old.txt', '/repo/ours.txt')
    await workspace.files.write('/repo/thing', 'target\n')
    await workspace.files.move('/repo/old.txt', '/repo/theirs.txt')
    refused = await cairn.run(['fs', 'layer', 'commit', 'try'])
  })

  const side = (name: string, ...words: string[]): Promise<string> =>
    cairn.text('fs', ...words, '--layer', 'try', '--side', name)

  it('the sides of a conflict are looked at by ls, stat, find, cat and cp', async () => {
    expect(await side('layer', 'ls', ':/repo/thing')).toBe('part.txt\n')
    expect(await side('target', 'cat', ':/repo/thing')).toBe('target\n')
    expect(await side('layer', 'stat', ':/repo/thing')).toMatch(/kind: +directory/)
    expect(await side('target', 'stat', ':/repo/thing')).toMatch(/kind: +file/)
    expect(await side('base', 'find', ':/repo', '-type', 'f')).toBe('/repo/old.txt\n')
    expect(await side('layer', 'find', ':/repo', '-type', 'f')).toBe(
      '/repo/ours.txt\n/repo/thing/part.txt\n',
    )
    expect(await side('target', 'find', ':/repo', '-type', 'f')).toBe(
      '/repo/theirs.txt\n/repo/thing\n',
    )
    const copy = join(cairn.home(), 'thing')
    await side('layer', 'cp', '-r', ':/repo/thing', copy)
    expect(readFileSync(join(copy, 'part.txt'), 'utf8')).toBe('layer\n')
    expect(await side('target', 'cp', ':/repo/theirs.txt', '-')).toBe('base\n')
  })

  it('nothing is written to them', async () => {
    const words = ['fs', 'cp', '-', ':/repo/x', '--layer', 'try', '--side', 'target']
    expect(await cairn.error(...words)).toMatchObject({ code: 'read_only', exit: 8 })
  })

  it('each is told with the command that shows it, and that does', async () => {
    expect(refused.code).toBe(9)
    const shown = [...refused.stderr.matchAll(/^ {2}(?:base|layer|target): cairn (.*)$/gm)]
    expect(shown.map(([, words]) => words)).toEqual(
      expect.arrayContaining([
        'fs ls :/repo/thing --layer try --side layer',
        'fs cat :/repo/thing --layer try --side target',
        'fs cat :/repo/old.txt --layer try --side base',
        'fs cat :/repo/theirs.txt --layer try --side target',
      ]),
    )
    for (const [, words] of shown) await cairn.text(...words!.split(' '))
    const { conflicts } = await workspace.layers.status('try')
    const sides = conflicts.flatMap(({ base, layer, target }: LayerConflict) =>
      [base, layer, target].filter((there) => there !== undefined),
    )
    expect(shown).toHaveLength(sides.length)
  })
})
