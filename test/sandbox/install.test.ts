import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { say, useJails } from './jail-fixture.ts'
import { noJail } from './local-setup.ts'

/** A package like Debian's `fuse`: it brings a configuration file that the sandbox has already. */
const buildPackage = `
set -e
cd "$(mktemp -d)"
mkdir -p fuse/DEBIAN fuse/etc
echo '#user_allow_other' > fuse/etc/fuse.conf
echo /etc/fuse.conf > fuse/DEBIAN/conffiles
printf 'Package: like-fuse\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@example.org>\\nReplaces: fuse3\\nDescription: a test\\n' > fuse/DEBIAN/control
dpkg-deb --build fuse fuse.deb > /dev/null
`

/** A wheel is a zip file with three texts in it. */
const buildWheel = `
import zipfile
name = 'tiny_example-1.0'
with zipfile.ZipFile(name + '-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny_example.py', 'answer = 42\\n')
    wheel.writestr(name + '.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny-example\\nVersion: 1.0\\n')
    wheel.writestr(name + '.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(name + '.dist-info/RECORD', '')
`

describe.skipIf(noJail !== undefined)(`installing in a sandbox (${noJail ?? 'as root'})`, () => {
  const jails = useJails()

  it.skipIf(!existsSync('/usr/bin/dpkg-deb'))(
    'dpkg keeps the fuse.conf of the sandbox, and does not ask',
    async () => {
      const jail = await jails.make()
      const script = `${buildPackage}\nsudo dpkg -i fuse.deb < /dev/null > log 2>&1 && cat /etc/fuse.conf`
      const said = await say(jail, script)
      expect(said.text).toBe('user_allow_other\n')
      expect(said.code).toBe(0)
    },
  )

  it('/etc/mtab has the mounts: fusermount of FUSE 2 unmounts only what is there', async () => {
    const jail = await jails.make()
    expect((await say(jail, 'cmp /etc/mtab /proc/self/mounts && echo same')).text).toBe('same\n')
  })

  it.skipIf(!existsSync('/usr/bin/pip'))(
    'pip installs for the user and for root, and python runs what it installed',
    async () => {
      const jail = await jails.make()
      const install = 'pip install --no-index --no-deps --disable-pip-version-check -q ./*.whl'
      const script = `cd "$(mktemp -d)" && python -c '${buildWheel.replaceAll("'", `'"'"'`)}' && ${install}`
      const use = 'python -c "import tiny_example; print(tiny_example.answer)"'
      expect((await say(jail, `${script} && ${use}`)).text).toMatch(/42\n$/)
      expect((await say(jail, `${script} 2>&1 && cd / && ${use}`, 'root')).text).toMatch(/42\n$/)
    },
  )
})
