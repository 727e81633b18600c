import { isRoot, ordinaryUser } from './users.ts'

type Read = (name: string) => Promise<string>

/** The files of /etc that are a jail's own, by name, from those of its base. */
export async function etcFiles(read: Read): Promise<ReadonlyMap<string, string>> {
  const passwd = systemAccounts(await read('passwd'))
  const group = systemAccounts(await read('group'))
  const { name, home } = ordinaryUser
  // Who makes a jail without being root is its only user: by this name, too.
  const { uid, gid } = isRoot() ? ordinaryUser : { uid: 0, gid: 0 }
  const names = passwd.map((line) => line.split(':')[0]!)
  return new Map([
    ['passwd', lines([...passwd, `${name}:x:${uid}:${gid}::${home}:/bin/bash`])],
    ['group', lines([...group.map(withoutMembers), `${name}:x:${ordinaryUser.gid}:`])],
    ['shadow', lines([...names, name].map((each) => `${each}:*:19000:0:99999:7:::`))],
    ['gshadow', lines(group.map((line) => `${line.split(':')[0]!}:*::`).concat(`${name}:!::`))],
    ['sudoers', sudoers(name)],
    ['fuse.conf', 'user_allow_other\n'],
    // A package brings its own fuse.conf. Without a terminal dpkg would ask which to keep, and fail.
    ['dpkg/dpkg.cfg.d/cairn', 'force-confdef\nforce-confold\n'],
    // The disk is the sandbox's own, so pip may write beside the packages of the system (PEP 668).
    ['pip.conf', '[global]\nbreak-system-packages = true\n'],
  ])
}

/** Accounts of people stay outside; user 65534 is no person. */
function systemAccounts(text: string): string[] {
  return text.split('\n').filter((line) => {
    const id = Number(line.split(':')[2])
    return line !== '' && (id < 1000 || id === 65_534)
  })
}

function withoutMembers(line: string): string {
  return line.split(':').slice(0, 3).join(':') + ':'
}

function sudoers(name: string): string {
  return lines([
    'Defaults env_reset',
    'Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"',
    'root ALL=(ALL:ALL) ALL',
    `${name} ALL=(ALL:ALL) NOPASSWD: ALL`,
  ])
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
