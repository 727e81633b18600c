/** What a machine needs so that a workspace can be mounted in it. Every kind of template is made from this list. */
export const recipe = {
  node: '24',
  packages: ['ca-certificates', 'curl', 'fuse3', 'git', 'python3', 'ripgrep', 'sudo'],
  /** As root. */
  commands: [
    'id -u user >/dev/null 2>&1 || { userdel -r node 2>/dev/null; useradd -m -u 1000 -s /bin/bash user; }',
    "echo 'user ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/user",
    'grep -qx user_allow_other /etc/fuse.conf 2>/dev/null || echo user_allow_other >> /etc/fuse.conf',
    "mkdir -p /etc/tmpfiles.d && echo 'z /dev/fuse 0666 root root -' > /etc/tmpfiles.d/fuse.conf",
    'mkdir -p /home/user/workspace && chown user:user /home/user && chmod 0555 /home/user/workspace',
  ],
  /** `cairn` as one file goes here, and runs with the Node above. */
  cairn: '/usr/local/bin/cairn',
  workDir: '/home/user',
  user: 'user',
} as const

/** For Docker, Podman and whatever else builds from a Dockerfile. `cairn` is expected beside it. */
export function dockerfile(): string {
  return `${[
    `FROM node:${recipe.node}-bookworm-slim`,
    `RUN ${aptInstall()}`,
    ...recipe.commands.map((command) => `RUN ${command}`),
    `COPY --chmod=0755 cairn ${recipe.cairn}`,
    `USER ${recipe.user}`,
    `WORKDIR ${recipe.workDir}`,
    '# Mounting needs: docker run --device /dev/fuse --cap-add SYS_ADMIN',
  ].join('\n')}\n`
}

/** A program that builds the same template at E2B. `cairn` is expected beside it. */
export function e2bProgram(name: string): string {
  const commands = [aptInstall(), ...recipe.commands]
  return `${[
    "import { Template, defaultBuildLogger } from 'e2b'",
    '',
    'const template = Template()',
    `  .fromNodeImage('${recipe.node}')`,
    ...commands.map((command) => `  .runCmd(${JSON.stringify(command)}, { user: 'root' })`),
    `  .copy('cairn', '${recipe.cairn}', { user: 'root', mode: 0o755 })`,
    `  .setUser('${recipe.user}')`,
    `  .setWorkdir('${recipe.workDir}')`,
    '',
    `await Template.build(template, ${JSON.stringify(name)}, { onBuildLogs: defaultBuildLogger() })`,
  ].join('\n')}\n`
}

function aptInstall(): string {
  return `apt-get update && apt-get install -y --no-install-recommends ${recipe.packages.join(' ')}`
}
