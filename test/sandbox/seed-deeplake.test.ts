import { readFile } from 'node:fs/promises'
import { connectE2B } from '@cairn/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type E2BSetup, openE2BSetup } from './e2b-setup.ts'
import { noJail } from './local-setup.ts'

type E2B = Awaited<ReturnType<typeof connectE2B>>
type Machine = Awaited<ReturnType<E2B['Sandbox']['create']>>

/** Deeplake's page about E2B, with cairn in the place of its command, line by line. */
describe.skipIf(noJail !== undefined)(`Deeplake's program (${noJail ?? 'as root'})`, () => {
  let setup: E2BSetup
  let e2b: E2B
  beforeAll(async () => {
    setup = await openE2BSetup()
    // Makes the command's one file, and a base with the Node that it needs.
    await setup.makeWorkspace()
    e2b = await connectE2B({ apiKey: setup.env['E2B_API_KEY']!, url: setup.env['E2B_API_URL']! })
    const sandbox = await e2b.Sandbox.create(setup.template)
    const cairn = new Blob([await readFile(process.env['CAIRN_SINGLE_FILE']!)])
    await sandbox.files.write('/usr/local/bin/cairn', cairn, { user: 'root' })
    await sandbox.commands.run('chmod 0755 /usr/local/bin/cairn', { user: 'root' })
    await sandbox.createSnapshot({ name: 'with-cairn' })
    await sandbox.kill()
  })
  afterAll(() => setup.close())

  async function setUp(table: string): Promise<Machine> {
    const sandbox = await e2b.Sandbox.create('with-cairn', { timeoutMs: 300_000 })
    await sandbox.commands.run(
      "sudo chmod 666 /dev/fuse && sudo sed -i 's/#user_allow_other/user_allow_other/' /etc/fuse.conf",
      { timeoutMs: 60_000 },
    )
    const credentials = JSON.stringify({
      token: setup.server.apiKey,
      orgId: 'org',
      apiUrl: setup.serverInside,
    })
    await sandbox.commands.run(
      `mkdir -p ~/.cairn && echo '${credentials}' > ~/.cairn/credentials.json`,
      { timeoutMs: 5000 },
    )
    await sandbox.commands.run(`cairn init --table "${table}" --path /mnt/data`, {
      timeoutMs: 60_000,
    })
    return sandbox
  }

  it('writes in one sandbox and reads in another, also after the first is gone', async () => {
    const first = await setUp('shared_workspace')
    const second = await setUp('shared_workspace')
    await first.commands.run('echo "written from sandbox A" > /mnt/data/hello.txt')
    const read = async (): Promise<string> =>
      (await second.commands.run('cat /mnt/data/hello.txt || true')).stdout
    await expect.poll(read).toBe('written from sandbox A\n')
    // The files of the SDK are read and written by root.
    await expect(second.files.read('/mnt/data/hello.txt')).resolves.toBe('written from sandbox A\n')
    await first.files.write('/mnt/data/task.py', 'print("it ran")')
    const ran = await first.commands.run('python3 /mnt/data/task.py > /mnt/data/output.txt 2>&1')
    expect(ran.exitCode).toBe(0)
    await first.kill()
    await expect
      .poll(async () => (await second.commands.run('cat /mnt/data/output.txt || true')).stdout)
      .toBe('it ran\n')
    const { stdout } = await second.commands.run('ls -A /mnt/data; cairn umount /mnt/data')
    expect(stdout).toContain('task.py')
    await second.kill()
  })

  it('FROM e2b/base builds with the steps of its Dockerfile', async () => {
    const { Template, Sandbox } = e2b
    const dockerfile = `FROM e2b/base
RUN chmod 666 /dev/fuse && \\
    sed -i 's/#user_allow_other/user_allow_other/' /etc/fuse.conf && echo done > /ready`
    await Template.build(Template().fromDockerfile(dockerfile), 'deeplake')
    const sandbox = await Sandbox.create('deeplake')
    await expect(sandbox.files.read('/ready')).resolves.toBe('done\n')
    await sandbox.kill()
  })
})
