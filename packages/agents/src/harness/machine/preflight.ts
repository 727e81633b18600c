import type { Sandbox } from '@cairn/sandbox'

export interface Preflight {
  /** What is there, with its version. */
  readonly found: Readonly<Record<string, string>>
  readonly missing: readonly string[]
  /** For a person: what each missing one is for. */
  readonly text: string
}

const uses: Readonly<Record<string, string>> = {
  node: 'runs cairn inside machines of E2B (version 22 or newer)',
  fuse: 'mounts the workspace (/dev/fuse and fusermount)',
  python3: 'runs code in Python',
  rg: 'searches in bash; the grep tool does not need it',
}

const script = `
say() { v=$("$1" --version 2>/dev/null | head -n 1) && [ -n "$v" ] && echo "$1 $v"; }
say node; say python3; say rg
fusermount=$(command -v fusermount3 || command -v fusermount) && [ -c /dev/fuse ] && echo "fuse $("$fusermount" --version 2>&1 | head -n 1)"
true`

/** What a machine has of what a harness may need. */
export async function inspect(sandbox: Sandbox): Promise<Preflight> {
  const { stdout } = await sandbox.exec(script)
  const lines = stdout.split('\n').filter((line) => line !== '')
  const found = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
  const missing = Object.keys(uses).filter((name) => found[name] === undefined)
  const text = missing.map((name) => `${name} is missing: it ${uses[name]}.`).join('\n')
  return { found, missing, text }
}
