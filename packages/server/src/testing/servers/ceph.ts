import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import { waitUntil } from '../wait-until.ts'
import {
  findFreePort,
  findMissingProgram,
  runProgram,
  type ServerProcess,
  startServer,
  startInTheEnd,
} from './server-process.ts'

const missing = findMissingProgram([
  'ceph-mon',
  'ceph-osd',
  'radosgw',
  'ceph',
  'monmaptool',
  'setpriv',
])

/** Why there can be none on this machine, for the title of what is skipped. */
export const whyNoCeph: string | undefined =
  missing && `skipped: no ${missing}, install radosgw ceph-mon ceph-osd ceph-common`

const startMs = 60_000

/** Ceph's object gateway with a cluster of one, in memory: a real S3 that checks signatures. */
export class CephServer {
  readonly port: number
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } = {
    accessKeyId: 'AKTEST',
    secretAccessKey: 'SKTEST',
  }
  readonly #directory: string
  readonly #env: NodeJS.ProcessEnv
  readonly #processes: ServerProcess[] = []

  private constructor(port: number, directory: string) {
    this.port = port
    this.#directory = directory
    this.#env = { CEPH_CONF: join(directory, 'ceph.conf') }
  }

  static start(): Promise<CephServer> {
    return startInTheEnd(async () => {
      const server = new CephServer(await findFreePort(), await makeTemporaryDirectory())
      try {
        await server.#start()
        return server
      } catch (error) {
        await server.stop()
        throw error
      }
    })
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.end('SIGKILL')))
    await removeDirectory(this.#directory)
  }

  async #start(): Promise<void> {
    const [cluster, osd] = [randomUUID(), randomUUID()]
    const monitorPort = await findFreePort()
    await this.#configure(cluster, monitorPort, await findFreePort())
    const map = join(this.#directory, 'monmap')
    const address = `[v1:127.0.0.1:${monitorPort}]`
    await this.#run('monmaptool', ['--create', '--addv', 'a', address, '--fsid', cluster, map])
    await this.#run('ceph-mon', ['-i', 'a', '--mkfs', '--monmap', map])
    this.#launch('ceph-mon', ['-i', 'a', '-f'])
    // Waits for the monitor by itself.
    await this.#run('ceph', ['osd', 'new', osd])
    await this.#run('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osd])
    this.#launch('ceph-osd', ['-i', '0', '-f'])
    await this.#wait('the OSD is up', async () =>
      (await this.#run('ceph', ['osd', 'stat'])).includes('1 up'),
    )
    this.#launch('radosgw', ['-n', 'client.rgw', '-f'])
    await this.#wait('the gateway answers', () => isAnswering(this.endpoint))
    const { accessKeyId, secretAccessKey } = this.credentials
    const keys = ['--access-key', accessKeyId, '--secret', secretAccessKey]
    const user = ['user', 'create', '--uid', 'test', '--display-name', 'test', ...keys]
    await this.#run('radosgw-admin', ['-n', 'client.rgw', ...user])
  }

  #run(command: string, args: readonly string[]): Promise<string> {
    return runProgram(command, args, this.#env)
  }

  #launch(command: string, args: readonly string[]): void {
    const output = join(this.#directory, `${command}.out`)
    this.#processes.push(startServer(command, args, { env: this.#env, output }))
  }

  #wait(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const isSoStill = async (): Promise<boolean> => {
      if (this.#processes.some((each) => each.hasEnded()))
        throw new Error(`a Ceph daemon ended:\n${await this.#lastWords()}`)
      return isSo()
    }
    return waitUntil(what, isSoStill, startMs)
  }

  async #lastWords(): Promise<string> {
    const outputs = (await readdir(this.#directory)).filter((name) => name.endsWith('.out'))
    const texts = outputs.map((name) => readFile(join(this.#directory, name), 'utf8'))
    return (await Promise.all(texts)).map((text) => text.slice(-2000)).join('\n')
  }

  async #configure(cluster: string, monitorPort: number, osdPort: number): Promise<void> {
    const at = (name: string): string => join(this.#directory, name)
    for (const name of ['mon.a', 'osd.0', 'rgw']) await mkdir(at(name))
    const settings = {
      fsid: cluster,
      mon_host: `v1:127.0.0.1:${monitorPort}`,
      public_addr: '127.0.0.1',
      cluster_addr: '127.0.0.1',
      ms_bind_ipv6: 'false',
      ms_bind_port_min: osdPort,
      ms_bind_port_max: osdPort + 100,
      auth_cluster_required: 'none',
      auth_service_required: 'none',
      auth_client_required: 'none',
      osd_pool_default_size: 1,
      osd_pool_default_min_size: 1,
      mon_allow_pool_size_one: 'true',
      osd_crush_chooseleaf_type: 0,
      osd_pool_default_pg_num: 4,
      osd_pool_default_pgp_num: 4,
      osd_pool_default_pg_autoscale_mode: 'off',
      mon_max_pg_per_osd: 2000,
      osd_objectstore: 'memstore',
      memstore_device_bytes: 2 ** 31,
      run_dir: at(''),
      mon_data: at('mon.a'),
      osd_data: at('osd.$id'),
      log_file: at('$name.log'),
      admin_socket: at('$name.asok'),
      pid_file: at('$name.pid'),
      mon_cluster_log_file: at('cluster.log'),
    }
    const gateway = {
      rgw_data: at('rgw'),
      rgw_frontends: `beast endpoint=127.0.0.1:${this.port}`,
      rgw_enable_apis: 's3',
    }
    const text = `[global]\n${lines(settings)}[client.rgw]\n${lines(gateway)}`
    await writeFile(this.#env['CEPH_CONF']!, text)
  }
}

function lines(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
