import { dirname } from 'node:path'
import { basename } from 'node:path/posix'
import type { BuildOptions, TemplateBuilder as Steps, Template as TemplateStart } from 'e2b'
import { recipe } from '../template/recipe.ts'
import { findSingleFile } from '../template/single-file.ts'

export interface E2BTemplateConfig {
  readonly alias: string
  /** What is not one of these is E2B's own image. */
  readonly base: 'python' | 'node' | 'debian' | 'ubuntu' | 'custom'
  /** Default: python 3, node 20, and E2B's choice for the others. */
  readonly baseVersion?: string
  /** With `custom`. */
  readonly dockerfile?: string
  readonly aptPackages?: readonly string[]
  readonly pipPackages?: readonly string[]
  readonly npmPackages?: readonly string[]
  readonly buildCommands?: readonly string[]
  readonly workDir?: string
  /** Default: 2. */
  readonly cpuCount?: number
  /** Default: 512. */
  readonly memoryMB?: number
  /** Adds what a workspace needs to be mounted: FUSE, cairn and its Node. */
  readonly cairn?: boolean
}

export interface E2BTemplateOptions {
  readonly apiKey?: string
  /** Another server that speaks E2B. */
  readonly apiUrl?: string
  readonly onLog?: (log: string) => void
}

/** Builds templates for E2B's sandboxes. */
export class E2BTemplateBuilder {
  /** Resolves when sandboxes can be made from it. */
  static async build(
    config: E2BTemplateConfig,
    { onLog, ...connection }: E2BTemplateOptions = {},
  ): Promise<{ templateId: string; alias: string }> {
    const { Template } = await import('e2b')
    const { alias, cpuCount = 2, memoryMB = 512 } = config
    const singleFile = config.cairn === true ? await findSingleFile() : undefined
    const template = Template(
      singleFile === undefined ? {} : { fileContextPath: dirname(singleFile) },
    )
    const steps = addSteps(startFrom(template, config), config, singleFile)
    const options: Omit<BuildOptions, 'alias'> = {
      ...connection,
      cpuCount,
      memoryMB,
      ...(onLog && { onBuildLogs: (entry) => onLog(entry.toString()) }),
    }
    const built = await Template.build(steps, alias, options)
    return { templateId: built.templateId || alias, alias }
  }

  static async exists(
    alias: string,
    connection: Omit<E2BTemplateOptions, 'onLog'> = {},
  ): Promise<boolean> {
    const { Template } = await import('e2b')
    return Template.exists(alias, connection)
  }
}

function startFrom(template: ReturnType<typeof TemplateStart>, config: E2BTemplateConfig): Steps {
  const { base, baseVersion, dockerfile } = config
  switch (base) {
    case 'python':
      return template.fromPythonImage(baseVersion ?? '3')
    case 'node':
      return template.fromNodeImage(baseVersion ?? '20')
    case 'debian':
      return template.fromDebianImage(baseVersion)
    case 'ubuntu':
      return template.fromUbuntuImage(baseVersion)
    case 'custom':
      if (dockerfile === undefined)
        throw new Error('cannot build a custom template: give its `dockerfile`')
      return template.fromDockerfile(dockerfile)
    default:
      return template.fromBaseImage()
  }
}

/** In this order: apt, pip, npm, commands, cairn, work directory. */
function addSteps(steps: Steps, config: E2BTemplateConfig, singleFile: string | undefined): Steps {
  const {
    aptPackages = [],
    pipPackages = [],
    npmPackages = [],
    buildCommands = [],
    workDir,
  } = config
  let next = steps
  if (aptPackages.length > 0) next = next.aptInstall([...aptPackages])
  if (pipPackages.length > 0) next = next.pipInstall([...pipPackages])
  if (npmPackages.length > 0) next = next.npmInstall([...npmPackages], { g: true })
  for (const command of buildCommands) next = next.runCmd(command)
  if (singleFile !== undefined) next = addCairn(next, singleFile)
  return workDir === undefined ? next : next.setWorkdir(workDir)
}

/** Node comes from its own archive where the base has none, or an older one. */
const ensureNode =
  `major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0); [ "$major" -ge 22 ] || ` +
  `curl -fsSL https://deb.nodesource.com/setup_${recipe.node}.x | bash - && apt-get install -y nodejs`

function addCairn(steps: Steps, singleFile: string): Steps {
  let next = steps.aptInstall([...recipe.packages])
  for (const command of [ensureNode, ...recipe.commands])
    next = next.runCmd(command, { user: 'root' })
  return next.copy(basename(singleFile), recipe.cairn, { user: 'root', mode: 0o755 })
}
