import { CommandExitError, type Sandbox, TimeoutError } from 'e2b'
import { beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

describe.skipIf(!canServe)('commands, through the e2b package', () => {
  const test = serveForTests()
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await test.e2b.Sandbox.create({ envs: { COLOUR: 'green' } })
  })

  it('gives output, error output and exit code', async () => {
    const failure = sandbox.commands.run('echo out; echo err >&2; exit 3')
    await expect(failure).rejects.toBeInstanceOf(CommandExitError)
    await expect(failure).rejects.toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
  })

  it('runs as user in the home, or as told', async () => {
    const asUser = await sandbox.commands.run('id -un; pwd')
    expect(asUser.stdout).toBe('user\n/home/user\n')
    const asRoot = await sandbox.commands.run('id -un; pwd; echo $A', {
      user: 'root',
      cwd: '/usr',
      envs: { A: 'b' },
    })
    expect(asRoot.stdout).toBe('root\n/usr\nb\n')
  })

  it('a command has the variables of the sandbox, and nothing of the server', async () => {
    const { stdout } = await sandbox.commands.run('env')
    expect(stdout).toContain('COLOUR=green\n')
    expect(stdout).toContain(`E2B_SANDBOX_ID=${sandbox.sandboxId}\n`)
    expect(stdout).not.toContain('VITEST')
    expect(stdout).not.toContain(test.server.apiKey)
  })

  it('may use sudo', async () => {
    const { stdout } = await sandbox.commands.run('sudo id -u')
    expect(stdout).toBe('0\n')
  })

  it('streams output while the command runs', async () => {
    let seen = ''
    const handle = await sandbox.commands.run('echo first; read line; echo got $line', {
      background: true,
      stdin: true,
      onStdout: (data) => void (seen += data),
    })
    await expect.poll(() => seen).toBe('first\n')
    await sandbox.commands.sendStdin(handle.pid, 'word\n')
    await expect(handle.wait()).resolves.toMatchObject({ exitCode: 0, stdout: 'first\ngot word\n' })
  })

  it('ends the input when it is closed', async () => {
    const handle = await sandbox.commands.run('wc -c', { background: true, stdin: true })
    await sandbox.commands.sendStdin(handle.pid, '12345')
    await sandbox.commands.closeStdin(handle.pid)
    await expect(handle.wait()).resolves.toMatchObject({ stdout: '5\n' })
  })

  it('brings a megabyte of output through whole', async () => {
    const { stdout } = await sandbox.commands.run('head -c 1000000 /dev/zero | tr "\\0" x')
    expect(stdout.length).toBe(1_000_000)
  })

  it('loses nothing of what short commands say', async () => {
    const numbers = Array.from({ length: 60 }, (_, number) => number)
    const runs = numbers.map((number) => sandbox.commands.run(`echo ${number}`))
    const said = (await Promise.all(runs)).map(({ stdout }) => stdout)
    expect(said).toEqual(numbers.map((number) => `${number}\n`))
  })

  it('lists what runs, and kills it', async () => {
    const handle = await sandbox.commands.run('sleep 1000', { background: true, envs: { K: 'v' } })
    const running = await sandbox.commands.list()
    expect(running.find(({ pid }) => pid === handle.pid)).toMatchObject({
      cmd: '/bin/bash',
      args: ['-l', '-c', 'sleep 1000'],
      envs: { K: 'v' },
    })
    await expect(sandbox.commands.kill(handle.pid)).resolves.toBe(true)
    await expect(handle.wait()).rejects.toMatchObject({ exitCode: -1 })
    await expect(sandbox.commands.kill(handle.pid)).resolves.toBe(false)
  })

  it('goes on without its caller, and can be followed again', async () => {
    const handle = await sandbox.commands.run('read line; echo late $line', {
      background: true,
      stdin: true,
    })
    await handle.disconnect()
    const again = await sandbox.commands.connect(handle.pid)
    await sandbox.commands.sendStdin(handle.pid, 'word\n')
    await expect(again.wait()).resolves.toMatchObject({ stdout: 'late word\n' })
  })

  it('a command is killed when its time is over', async () => {
    const run = sandbox.commands.run('read forever < /dev/zero', { timeoutMs: 200 })
    await expect(run).rejects.toBeInstanceOf(TimeoutError)
    await expect.poll(() => sandbox.commands.list()).toEqual([])
    const { stdout } = await sandbox.commands.run('pgrep -fc "[f]orever" || true')
    expect(stdout).toBe('0\n')
  })

  it('refuses a directory and a user that are not there', async () => {
    await expect(sandbox.commands.run('true', { cwd: '/no/such' })).rejects.toMatchObject({
      name: 'InvalidArgumentError',
    })
    await expect(sandbox.commands.run('true', { user: 'unknown-user' })).rejects.toMatchObject({
      name: 'AuthenticationError',
    })
  })

  it('a command has a terminal that can be typed into and resized', async () => {
    let shown = ''
    const decoder = new TextDecoder()
    const terminal = await sandbox.pty.create({
      cols: 80,
      rows: 24,
      onData: (data) => void (shown += decoder.decode(data, { stream: true })),
    })
    await sandbox.pty.resize(terminal.pid, { cols: 101, rows: 33 })
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; tty; exit 7\n'))
    await expect(terminal.wait()).rejects.toMatchObject({ exitCode: 7 })
    expect(shown).toContain('33 101')
    expect(shown).toContain('/dev/pts/')
  })

  it('refuses a wrong access token', async () => {
    const answer = await fetch(`${test.server.url}/process.Process/List`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'e2b-sandbox-id': sandbox.sandboxId,
        'e2b-sandbox-port': '49983',
        'x-access-token': 'wrong',
      },
      body: '{}',
    })
    expect(answer.status).toBe(401)
  })
})
