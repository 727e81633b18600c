import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Site, type SiteMount } from '../../mount/fixture.ts'
import { Client } from './programs.ts'
import { spreadChildren } from './spread.ts'

export const rounds = 3

/** Where the measuring happens: a mount, and a directory on the disk that its server keeps everything on. */
export class Ground {
  readonly site: Site
  readonly mount: SiteMount
  readonly local: string
  /** What the works need and what is not measured. */
  readonly sources: string
  readonly client: Client

  private constructor(site: Site, mount: SiteMount) {
    this.site = site
    this.mount = mount
    this.local = this.#make('local')
    spreadChildren(this.local)
    this.sources = this.#make('sources')
    this.client = new Client(this.sources)
  }

  static async open(): Promise<Ground> {
    const site = await Site.open()
    try {
      return new Ground(site, await site.mount('/'))
    } catch (error) {
      await site.close()
      throw error
    }
  }

  /** Programs that see no setting of the current user. */
  get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: this.sources,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'bench',
      GIT_AUTHOR_EMAIL: 'bench@example.org',
      GIT_COMMITTER_NAME: 'bench',
      GIT_COMMITTER_EMAIL: 'bench@example.org',
    }
  }

  #make(name: string): string {
    const directory = join(this.site.directory, name)
    mkdirSync(directory)
    return directory
  }
}
