/** A shell in this process works on the files of a workspace: no mount, no machine, nothing copied. */
import { Bash, InMemoryFs, MountableFs } from 'just-bash'
import { cairnFileSystem } from '@cairn/agents/just-bash'

export interface Access {
  readonly server: string
  readonly apiKey: string
  readonly workspace: string
  readonly layer?: string
}

/** What is outside of /workspace, such as /tmp, stays in memory. */
export function openShell(access: Access): Bash {
  const filesystem = cairnFileSystem(access)
  const fs = new MountableFs({
    base: new InMemoryFs(),
    mounts: [{ mountPoint: '/workspace', filesystem }],
  })
  return new Bash({ fs, cwd: '/workspace' })
}
