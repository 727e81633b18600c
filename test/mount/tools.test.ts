import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

function has(tool: string): boolean {
  return spawnSync(tool, ['--version']).status === 0
}

/** An npm package of ours that is a program. */
function installed(program: string): string {
  return fileURLToPath(new URL(`../../node_modules/.bin/${program}`, import.meta.url))
}

function reason(why: string | undefined): string {
  return why === undefined ? '' : ` (${why})`
}

const noPip: string | undefined =
  spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0
    ? undefined
    : 'python3 has no ensurepip'

/** A wheel is an archive with a few files that describe it. */
const makeWheel = `
import zipfile
with zipfile.ZipFile("lib-1.0-py3-none-any.whl", "w") as wheel:
    about = "lib-1.0.dist-info/"
    wheel.writestr("lib.py", "def main(): print(\\"from lib\\")")
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: lib\\nVersion: 1.0\\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nGenerator: us\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(about + "entry_points.txt", "[console_scripts]\\nlib-tool = lib:main\\n")
    wheel.writestr(about + "RECORD", "")`

const git = '-c user.name=n -c user.email=e@example.org -c init.defaultBranch=main'

/** Unmodified, on one mount that has the lease. Each in a directory of its own. */
describe.skipIf(noMount)('ordinary tools on a mount', () => {
  let site: Site
  let mount: SiteMount
  let outside: string

  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/')
    outside = join(site.directory, 'outside')
    mkdirSync(outside)
    execFileSync('/bin/sh', ['-ec', makeSource], { cwd: outside })
  })
  afterAll(() => site.close())

  /** 300 small files, some large, links, a script. */
  const makeSource = `
    mkdir -p source/deep/er
    for i in $(seq 300); do echo "file $i" > source/deep/$i.txt; done
    head -c 3000000 /dev/urandom > source/large
    ln -s deep/1.txt source/link; ln source/large source/hard
    printf '#!/bin/sh\\necho runs\\n' > source/run; chmod 755 source/run
    touch -d 2001-02-03T04:05:06.789 source/deep/er source/run`

  it.skipIf(!has('git'))('git: clone, commit, rebase, worktree, gc, fsck', async () => {
    execFileSync(
      '/bin/sh',
      [
        '-ec',
        `cp -a source repo; cd repo; git ${git} init -q; git add .; git ${git} commit -qm one`,
      ],
      { cwd: outside },
    )
    const seen = await mount.sh(`
      git clone -q --no-local ${outside}/repo clone; cd clone
      git checkout -qb topic; echo topic > topic; git add .; git ${git} commit -qm topic
      git checkout -q main; echo main >> deep/1.txt; git ${git} commit -qam main
      git ${git} rebase -q main topic
      git worktree add -q ../tree main; cat ../tree/deep/1.txt; git worktree remove ../tree
      git gc -q; git fsck --strict 2>&1; git status --porcelain; git log --format=%s`)
    expect(seen).toBe('file 1\nmain\ntopic\nmain\none\n')
  })

  /** A package in an archive beside the directory that depends on it. */
  const packLib = `
    mkdir lib app
    echo '{"name":"lib","version":"1.0.0","bin":{"lib":"run.js"}}' > lib/package.json
    printf '#!/usr/bin/env node\\nconsole.log("from lib")\\n' > lib/run.js
    (cd lib && npm pack --silent --offline > /dev/null 2>&1)
    echo '{"name":"app","version":"1.0.0","dependencies":{"lib":"file:../lib/lib-1.0.0.tgz"}}' > app/package.json
    cd app`

  it.skipIf(!has('npm'))('npm: installs a packed package, its bin included', async () => {
    const seen = await mount.sh(`
      mkdir npm; cd npm; ${packLib}
      npm install --silent --offline --no-audit --no-fund > /dev/null 2>&1
      node_modules/.bin/lib`)
    expect(seen).toBe('from lib\n')
  })

  it('pnpm: what it installs are hard links into its store, behind symlinks', async () => {
    const seen = await mount.sh(`
      mkdir pnpm; cd pnpm; ${packLib}
      ${installed('pnpm')} install --offline --ignore-workspace --store-dir ../store --package-import-method hardlink >&2
      node_modules/.bin/lib; stat -c %h node_modules/lib/run.js; readlink node_modules/lib
      rm -r node_modules; ${installed('pnpm')} install --offline --ignore-workspace --frozen-lockfile --store-dir ../store >&2
      node_modules/.bin/lib`)
    expect(seen).toMatch(/^from lib\n2\n\.pnpm\/.*\/node_modules\/lib\nfrom lib\n$/)
  })

  it('yarn: installs a packed package, its bin included, and again from its lock file', async () => {
    const install = `${installed('yarn')} install --offline --silent --non-interactive --cache-folder ../cache`
    const seen = await mount.sh(`
      mkdir yarn; cd yarn; ${packLib}
      ${install} >&2; node_modules/.bin/lib
      rm -r node_modules; ${install} --frozen-lockfile >&2; node_modules/.bin/lib`)
    expect(seen).toBe('from lib\nfrom lib\n')
  })

  it('tar: what was extracted is what was packed', async () => {
    const seen = await mount.sh(`
      mkdir tar; tar c -C ${outside} source | tar x -C tar; diff -r ${outside}/source tar/source
      stat -c '%y %a' tar/source/run; stat -c %h tar/source/large; tar/source/run`)
    expect(seen).toMatch(/^2001-02-03 04:05:06.* 755\n2\nruns\n$/)
  })

  it('cp -a, diff -r, find and grep -r', async () => {
    const seen = await mount.sh(`
      cp -a ${outside}/source copy; diff -r ${outside}/source copy; cp -a copy again; diff -r copy again
      find again -name '*.txt' | wc -l; grep -rl 'file 77$' again; readlink again/link
      stat -c %Y again/deep/er; rm -r again; ls -d again 2>&1 | wc -l`)
    expect(seen).toBe('300\nagain/deep/77.txt\ndeep/1.txt\n981173106\n1\n')
  })

  it('cp -a: every attribute is the same, to the nanosecond', async () => {
    const look = (directory: string): string => `(cd ${directory}
      find . ! -type d -printf '%p %y %m %U %G %n %s %T@ %l\\n' | sort
      find . -type d -printf '%p %m %U %G %T@\\n' | sort)`
    const seen = await mount.sh(
      `cp -a ${outside}/source attributes; ${look('attributes')} > seen; ${look(`${outside}/source`)} | diff - seen; wc -l < seen`,
    )
    expect(Number(seen)).toBeGreaterThan(300)
  })

  it.skipIf(!has('rg'))('rg: finds what grep finds', async () => {
    const seen = await mount.sh(`
      cp -a ${outside}/source searched; cd searched
      rg -l 'file 7' . | sort > ../by-rg; grep -rlI 'file 7' . | sort | diff - ../by-rg; wc -l < ../by-rg`)
    expect(Number(seen)).toBeGreaterThan(10)
  })

  it.skipIf(!has('vim'))('vim: saves, with a backup, and leaves no swap file', async () => {
    const seen = await mount.sh(`
      mkdir vim; cd vim; echo old > text; chmod 640 text
      for i in 1 2; do vim -N -u NONE -n -es -c 'set backup backupskip=' -c '%s/$/ new/' -c wq text; done
      cat text text~; stat -c %a text; ls -A`)
    expect(seen).toBe('old new new\nold new\n640\ntext\ntext~\n')
  })

  it.skipIf(!has('rsync'))('rsync -aHX: the second run has nothing to do', async () => {
    const seen = await mount.sh(`
      rsync -aHX ${outside}/source/ mirror/; rsync -aHXi --delete ${outside}/source/ mirror/
      rm mirror/deep/5.txt; echo more >> mirror/run
      rsync -aHX --delete ${outside}/source/ mirror/; diff -r ${outside}/source mirror && echo same`)
    expect(seen).toBe('same\n')
  })

  for (const mode of ['delete', 'wal'])
    it.skipIf(!has('sqlite3'))(`sqlite3 with journal_mode=${mode}`, async () => {
      const seen = await mount.sh(`
        sqlite3 ${mode}.db "PRAGMA journal_mode=${mode}; CREATE TABLE t (n INTEGER PRIMARY KEY, x BLOB);"
        for i in 1 2 3; do sqlite3 ${mode}.db "INSERT INTO t (x) SELECT randomblob(500) FROM generate_series(1, 200)"; done
        sqlite3 ${mode}.db "BEGIN; DELETE FROM t WHERE n % 2; ROLLBACK; UPDATE t SET x = zeroblob(9) WHERE n % 3; VACUUM;"
        sqlite3 ${mode}.db "PRAGMA integrity_check; SELECT count(*) FROM t"`)
      expect(seen).toBe(`${mode}\nok\n600\n`)
    })

  it.skipIf(!has('make') || !has('cc'))(
    'make and cc: builds once, and only what changed',
    async () => {
      const seen = await mount.sh(`
      mkdir c; cd c
      printf '#include <stdio.h>\\nint answer(void);int main(){printf("%%d\\\\n",answer());}\\n' > main.c
      echo 'int answer(void){return 41;}' > answer.c
      printf 'run: main.o answer.o\\n\\tcc -o $@ $^\\n' > Makefile
      make -s; ./run; make -q && echo up to date
      sleep 0.01; echo 'int answer(void){return 42;}' > answer.c; make -s; ./run`)
      expect(seen).toBe('41\nup to date\n42\n')
    },
  )

  it("editors' save by rename, with a backup", async () => {
    const seen = await mount.sh(`
      mkdir ed; cd ed; echo old > text; chmod 640 text
      for i in 1 2 3; do
        echo "new $i" > .text.swp; chmod --reference=text .text.swp; ln -f text text~; mv .text.swp text
      done
      sed -i s/new/newer/ text; cat text text~; stat -c '%a %h' text; ls -A`)
    expect(seen).toBe('newer 3\nnew 2\n640 1\ntext\ntext~\n')
  })

  it.skipIf(!has('python3'))('python: a virtual environment runs', async () => {
    const seen = await mount.sh(`
      python3 -m venv --without-pip venv; echo 'value = 7' > venv/mod.py
      cd venv; bin/python -c 'import mod, sys; print(mod.value, sys.prefix != sys.base_prefix)'`)
    expect(seen).toBe('7 True\n')
  })

  it.skipIf(noPip)(`pip: installs a wheel into a virtual environment${reason(noPip)}`, async () => {
    const seen = await mount.sh(`
      mkdir pip; cd pip; python3 -c '${makeWheel}'; python3 -m venv venv
      venv/bin/pip install --quiet --no-index --no-cache-dir --disable-pip-version-check lib-1.0-py3-none-any.whl
      venv/bin/lib-tool; venv/bin/pip show --files lib | grep -c '^  lib.py$'`)
    expect(seen).toBe('from lib\n1\n')
  })

  it('dd, truncate, split, sort and sha256sum agree with the local disk', async () => {
    const sum = execFileSync('sha256sum', [join(outside, 'source', 'large')], { encoding: 'utf8' })
    const seen = await mount.sh(`
      dd if=${outside}/source/large of=large bs=4097 status=none; sha256sum < large
      split -b 100000 large part.; cat part.* | sha256sum; rm part.*
      dd if=large of=large bs=1000 count=1 conv=notrunc status=none; truncate -s 3000000 large; sha256sum < large`)
    expect(seen).toBe(`${sum.split(' ')[0]}  -\n`.repeat(3))
  })

  it('everything above is at the server after a drain, byte for byte', async () => {
    await mount.drain()
    const later = await site.mount('/', '--read-only')
    const look = 'find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; find . | wc -l'
    expect(await later.sh(look)).toBe(await mount.sh(look))
  })
})
