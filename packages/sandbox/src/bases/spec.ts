import { createHash } from 'node:crypto'

/** As Debian calls it. */
export type Arch = 'amd64' | 'arm64'

/** What a base is made of. Equal specs are the same base. */
export interface BaseSpec {
  readonly arch: Arch
  /** Which Debian. */
  readonly suite: string
  /** Packages of Debian, without those that they need. */
  readonly packages: readonly string[]
  /** A version, as npm reads it. */
  readonly node: string | undefined
  /** Whether the server of `@e2b/code-interpreter` runs in it. */
  readonly runsCode: boolean
}

/** What E2B's users find in every sandbox. */
export const basePackages: readonly string[] = [
  'bash-completion',
  'build-essential',
  'ca-certificates',
  'curl',
  'fuse3',
  'git',
  'iproute2',
  'jq',
  'less',
  'nano',
  'netbase',
  'openssh-client',
  'procps',
  'python-is-python3',
  'python3',
  'python3-pip',
  'python3-venv',
  'ripgrep',
  'sudo',
  'unzip',
  'wget',
  'xz-utils',
  'zip',
]

export const codePackages: readonly string[] = [
  'python3-ipykernel',
  'python3-jupyter-client',
  'python3-matplotlib',
  'python3-numpy',
  'python3-pandas',
  'python3-requests',
]

/** Changes when a base of the same spec is made in another way. */
const recipeVersion = 1

/** The directory of a base. Another spec or recipe has another name, so what runs keeps what it has. */
export function nameOfBase(spec: BaseSpec, program: string): string {
  const content = JSON.stringify([spec, recipeVersion, spec.runsCode ? program : ''])
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return `debian-${spec.suite}-${spec.arch}-${hash}`
}
