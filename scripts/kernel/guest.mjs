import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { modules, root } from '../run.mjs'

/** Kept between runs: the download takes most of the time. */
const cache = join(modules, '.cairn-kernel')
const release = 'bookworm'
const kernelPackage = 'linux-image-cloud-amd64'

/** What the mount's tests start inside the guest. */
const guestPackages = ['attr', 'fuse3', 'git', 'procps', 'python3', 'strace', 'util-linux']

const copyAll = { recursive: true, verbatimSymlinks: true }

/** In the order they are loaded. The file system of the disk is part of the kernel. */
const kernelModules = [
  'virtio_ring',
  'virtio',
  'virtio_pci_modern_dev',
  'virtio_pci_legacy_dev',
  'virtio_pci',
  'virtio_blk',
  'fuse',
]

/**
 * Makes what qemu starts: Debian's kernel, a first file system that finds the disk, and a disk with a small Debian and
 * this project.
 *
 * @param {string} script what the guest runs in the project's folder, as root
 */
export function makeGuest(script) {
  mkdirSync(cache, { recursive: true })
  const kernel = fetchKernel()
  return {
    kernel: onlyFile(join(kernel, 'boot/vmlinuz-*')),
    initrd: packFirstFiles(kernel),
    disk: makeDisk(fetchDebian(), script),
  }
}

/** @returns {string} a folder with the unpacked package */
function fetchKernel() {
  return makeOnce('kernel', (folder) => {
    const name = output('apt-cache', ['depends', kernelPackage]).match(/Depends: (\S+)/)?.[1]
    if (name === undefined) throw new Error(`apt knows no ${kernelPackage}. Run: apt-get update`)
    mkdirSync(folder)
    output('apt-get', ['download', name], folder)
    output('dpkg', ['-x', onlyFile(join(folder, '*.deb')), folder])
  })
}

/** @returns {string} a folder with a small Debian. With other packages it is another one */
function fetchDebian() {
  return makeOnce(`debian-${guestPackages.join('+')}`, (folder) => {
    const targets = output('apt-get', ['indextargets', '--format', '$(REPO_URI) $(CODENAME)'])
    const mirror = targets
      .split('\n')
      .find((line) => line.endsWith(` ${release}`))
      ?.split(' ')[0]
    if (mirror === undefined) throw new Error(`apt has no source for Debian ${release}`)
    const include = `--include=${guestPackages.join(',')}`
    output('debootstrap', ['--variant=minbase', include, release, folder, mirror])
  })
}

/**
 * @param {string} name
 * @param {(folder: string) => void} make
 */
function makeOnce(name, make) {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  console.log(`Making ${folder}`)
  const half = `${folder}.half`
  rmSync(half, { recursive: true, force: true })
  make(half)
  renameSync(half, folder)
  return folder
}

/** @param {string} kernel */
function packFirstFiles(kernel) {
  const folder = join(cache, 'first')
  rmSync(folder, { recursive: true, force: true })
  for (const each of ['bin', 'dev', 'disk', 'modules']) {
    mkdirSync(join(folder, each), { recursive: true })
  }
  cpSync('/bin/busybox', join(folder, 'bin/busybox'))
  for (const name of kernelModules) {
    const file = onlyFile(join(kernel, `lib/modules/*/kernel/**/${name}.ko`))
    cpSync(file, join(folder, 'modules', `${name}.ko`))
  }
  const loads = kernelModules.map((name) => `/bin/busybox insmod /modules/${name}.ko`)
  const steps = [
    '#!/bin/busybox sh',
    ...loads,
    '/bin/busybox mount -t devtmpfs none /dev',
    '/bin/busybox mount -t ext4 /dev/vda /disk',
    'exec /bin/busybox switch_root /disk /guest-init',
  ]
  writeFileSync(join(folder, 'init'), `${steps.join('\n')}\n`, { mode: 0o755 })
  const initrd = join(cache, 'first.cpio')
  output('sh', ['-c', `find . | /bin/busybox cpio -o -H newc > ${initrd}`], folder)
  return initrd
}

/**
 * @param {string} debian
 * @param {string} script
 */
function makeDisk(debian, script) {
  const project = join(debian, 'project')
  rmSync(project, { recursive: true, force: true })
  const files = output('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const file of files
    .split('\0')
    .filter((each) => each !== '' && existsSync(join(root, each))))
    cpSync(join(root, file), makeParent(join(project, file)))
  const packages = globSync('node_modules/{*,.bin}', { cwd: root })
  for (const folder of [...packages, ...globSync('packages/*/native/build', { cwd: root })])
    cpSync(join(root, folder), makeParent(join(project, folder)), copyAll)
  cpSync('/bin/busybox', join(debian, 'bin/busybox'))
  const steps = [
    '#!/bin/sh',
    'mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev',
    'mkdir -p /dev/pts /dev/shm; mount -t devpts none /dev/pts; mount -t tmpfs none /dev/shm',
    'mount -t fusectl none /sys/fs/fuse/connections',
    // Without the network there is no loopback until someone asks for it, and fusermount3 reads the table of mounts.
    '/bin/busybox ip link set lo up && ln -sf /proc/self/mounts /etc/mtab',
    'export CI=1 NO_COLOR=1 HOME=/root PATH=/project/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin',
    `cd /project && uname -r && (${script}); echo "guest exit $?"`,
    'sync; echo o > /proc/sysrq-trigger; while :; do read -r _; done',
  ]
  writeFileSync(join(debian, 'guest-init'), `${steps.join('\n')}\n`, { mode: 0o755 })
  const disk = join(cache, 'disk.img')
  rmSync(disk, { force: true })
  output('mke2fs', ['-q', '-t', 'ext4', '-d', debian, disk, '6G'])
  return disk
}

/** @param {string} path */
function makeParent(path) {
  mkdirSync(dirname(path), { recursive: true })
  return path
}

/** @param {string} pattern */
function onlyFile(pattern) {
  const [file] = globSync(pattern)
  if (file === undefined) throw new Error(`there is no ${pattern}`)
  return file
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function output(command, args, cwd = root) {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (ran.status !== 0) {
    throw new Error(`cannot run ${command}: ${ran.error?.message ?? ran.stderr.slice(-2000)}`)
  }
  return ran.stdout
}
