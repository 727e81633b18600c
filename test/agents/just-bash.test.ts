import { describe, expect, it } from 'vitest'
import { cairnFileSystem } from '@cairn/agents/just-bash'
import { openShell } from '../../examples/agents/just-bash.ts'
import { useAgentSite } from './site.ts'

const { server } = useAgentSite()

const access = (layer?: string) => ({
  server: server().url,
  apiKey: server().apiKey,
  workspace: 'w',
  ...(layer !== undefined && { layer }),
})

describe('just-bash', () => {
  it('the example: a shell fixes a test in a layer, and main changes with the commit', async () => {
    const { files, layers } = server().cairn.workspace('w')
    await files.write('/answer.sh', 'answer=41\n')
    await files.write('/test.sh', '. ./answer.sh; test "$answer" = 42\n')
    await layers.create('/', { name: 'fix' })
    const shell = openShell(access('fix'))
    expect((await shell.exec('bash test.sh')).exitCode).toBe(1)
    const fixed = await shell.exec(
      'sed -i s/41/42/ answer.sh && bash test.sh && echo out > /tmp/note && cat /tmp/note',
    )
    expect(fixed).toMatchObject({ exitCode: 0, stdout: 'out\n', stderr: '' })
    expect(await files.readText('/answer.sh')).toBe('answer=41\n')
    await layers.commit('fix')
    expect(await files.readText('/answer.sh')).toBe('answer=42\n')
    expect(await files.exists('/tmp')).toBe(false)
  })

  it.each([
    ['mkdir -p d/e && echo a > d/e/f && cat d/e/f', 'a\n', 0],
    ['printf b >> d/e/f && cp -r d copy && cat copy/e/f', 'a\nb', 0],
    ['mv copy moved && ls moved/e && rm -r moved && ls -d moved', 'f\n', 2],
    ['ln -s d/e/f link && readlink link && cat link', 'd/e/f\na\nb', 0],
    ['find d -type f | sort; ls -1 d/*', 'd/e/f\nf\n', 0],
    ['grep -rn b d', 'd/e/f:2:b', 0],
    ['cat none', '', 1],
    ['echo x > new/file && cat new/file', 'x\n', 0],
    ['rmdir d', '', 1],
    ['chmod 700 d/e/f && stat -c %a d/e/f', '700\n', 0],
  ])('%s', async (command, stdout, exitCode) => {
    const result = await openShell(access()).exec(command)
    expect([result.stdout.trimEnd(), result.exitCode]).toEqual([stdout.trimEnd(), exitCode])
  })

  it('gives bytes as they are, follows links to their end, and has the errors of Node', async () => {
    const fs = cairnFileSystem(access())
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => at % 256)
    await fs.writeFile('/bytes', bytes)
    expect(await fs.readFileBuffer('/bytes')).toEqual(bytes)
    expect(await fs.readFile('/bytes', 'base64')).toBe(Buffer.from(bytes).toString('base64'))
    await fs.mkdir('/real/deep', { recursive: true })
    await fs.symlink('real', '/first')
    await fs.symlink('/first/deep', '/second')
    expect(await fs.realpath('/second')).toBe('/real/deep')
    expect(await fs.lstat('/second')).toMatchObject({ isSymbolicLink: true })
    expect(await fs.stat('/second')).toMatchObject({ isDirectory: true })
    await fs.symlink('loop', '/loop')
    await expect(fs.realpath('/loop')).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(fs.readFile('/none')).rejects.toMatchObject({
      code: 'ENOENT',
      message: "ENOENT: no such file or directory, open '/none'",
    })
    await expect(fs.mkdir('/real')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(fs.rm('/real')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await fs.rm('/none', { force: true })
    await expect(fs.cp('/real', '/other')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(fs.readlink('/bytes')).rejects.toMatchObject({ code: 'EINVAL' })
    const time = new Date('2031-05-01T00:00:00Z')
    await fs.utimes('/bytes', time, time)
    expect((await fs.stat('/bytes')).mtime).toEqual(time)
  })
})
