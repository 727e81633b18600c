import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { cloneInto, type CloneReceipt } from '../../git/clone.ts'
import { hydrateWishes } from '../../git/hydrate/hydrate-clone.ts'
import { openGitPlace } from '../../git/place.ts'

export const command: Command = defineCommand({
  summary: 'Clone a git repository into a workspace, in one change',
  description:
    'git fetches the repository with its own credentials. The files go to the server as one stream and appear\n' +
    'all at once, also in mounts. The result is an ordinary repository, and the first git status reads no\n' +
    'file. DIRECTORY must be empty or missing. You can repeat an interrupted command.',
  arguments: {
    url: { summary: 'What git clone takes' },
    directory: { summary: 'A directory in a mount, or :/path' },
  },
  options: {
    ...workspaceOptions,
    layer: { kind: 'text', value: 'REF', summary: 'Clone into a layer' },
    fast: { kind: 'flag', summary: 'Build the tree at the server (always on)' },
    blobless: { kind: 'flag', summary: 'Fetch the content of old versions later' },
    hydrate: {
      kind: 'choice',
      choices: hydrateWishes,
      summary:
        'With --blobless, when the rest is fetched: background (default), sync, off, or auto: sync if it is small',
    },
    branch: { kind: 'text', value: 'NAME', summary: 'Check out this branch or tag' },
    depth: { kind: 'count', value: 'N', summary: 'Only the newest N commits of history' },
    sparse: { kind: 'flag', summary: 'Only the files of the top directory' },
    credential: {
      kind: 'text',
      value: 'vault:NAME/FIELD',
      summary: 'Read the password from the vault',
    },
  },
  examples: [
    {
      command: 'cairn git clone --fast https://github.com/org/repo ./work/repo',
      does: 'in a mount',
    },
    {
      command: 'cairn git clone --fast --blobless https://host/repo :/repo',
      does: 'without a mount',
    },
    {
      command: 'cairn git clone --credential vault:github/token https://github.com/org/x :/x',
      does: 'with a secret of the workspace',
    },
  ],
  async run({ args: { url, directory }, options, cli }) {
    const { branch, depth, blobless, sparse, credential, workspace, layer, ...connection } = options
    const values = { ...connection, workspace, layer }
    const place = await openGitPlace(cli, values, directory)
    const hydrate = options.hydrate ?? 'background'
    const wishes = { url, branch, depth, blobless, sparse, credential, hydrate }
    const { receipt, hydration } = await cloneInto(cli, place, wishes)
    if (cli.isJson) return cli.out.json({ path: place.remote.path, ...receipt, hydration })
    if (!receipt) await cli.out.line(`${directory} was cloned before; it is whole`)
    else {
      await cli.out.line(`cloned into ${directory}: ${receipt.files} files, ${receipt.bytes} bytes`)
      await tellLeftOut(cli, receipt)
    }
    if (hydration === 'background')
      await cli.out.line(
        'the content of older versions is fetched in the background; see: cairn git status DIRECTORY',
      )
  },
})

async function tellLeftOut(cli: Cli, receipt: CloneReceipt): Promise<void> {
  if (receipt.submodules.length > 0)
    await cli.out.line(
      `submodules are empty: ${receipt.submodules.join(', ')}; fill them with: git submodule update --init`,
    )
  if (receipt.lfsFiles.length > 0)
    await cli.out.line(`${receipt.lfsFiles.length} files are kept by git lfs`)
}
