import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  casesOf,
  codeOf,
  expect,
  expectCode,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import type { VaultScope } from '@cairn/protocol'
import { type MasterKeys, openMasterKey } from '../access/master-key.ts'
import type { Database } from '../storage/database.ts'
import { openVaultTables } from '../storage/vault-tables.ts'
import type { VaultAsker } from '../vault/audit.ts'
import { openVaultDoor, type VaultDoor } from '../open-vault.ts'
import type { Values } from '../vault/vault-keeper.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'

interface VaultStores extends VaultDoor {
  readonly asker: VaultAsker
  readonly master: MasterKeys
  /** Holds the master key. */
  readonly directory: string
}

const clock = systemClock()

async function at(
  database: Database,
  body: (place: VaultStores) => Promise<void>,
  time: Clock = clock,
): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const master = await openMasterKey({ data: directory })
    const door = openVaultDoor({ vault: openVaultTables(database) }, master, time)
    const asker = { workspace: uniqueId(), actor: 'key_1' }
    await body({ ...door, asker, master, directory })
  })
}

function valuesOf(object: Readonly<Record<string, string>>): Values {
  return new Map(Object.entries(object).map(([field, text]) => [field, Buffer.from(text)]))
}

async function readTexts(
  { vault, asker }: VaultStores,
  name: string,
  version?: number,
): Promise<object> {
  const { values } = await vault.read(asker, name, version === undefined ? {} : { version })
  return Object.fromEntries([...values].map(([field, bytes]) => [field, bytes.toString()]))
}

/** The vault on whichever database. */
export const vaultCases: readonly StoreCase<Database>[] = casesOf((test) => {
  versionCases(test)
  sealCases(test)
  grantCases(test)
  rotationCases(test)
  forgetCases(test)
})

function versionCases(test: StoreTest<Database>): void {
  test('setting a field keeps the others, replacing does not, and every version stays', (database) =>
    at(database, async (place) => {
      const { vault, asker } = place
      await vault.edit(asker, 'db', valuesOf({ URL: 'one', USER: 'app' }))
      await vault.edit(asker, 'db', new Map([...valuesOf({ URL: 'two' }), ['GONE', null]]))
      const put = await vault.replace(asker, 'db', valuesOf({ ONLY: '' }))
      expect(put).toEqual({ name: 'db', version: 3, fields: ['ONLY'] })
      expect(await readTexts(place, 'db')).toEqual({ ONLY: '' })
      expect(await readTexts(place, 'db', 2)).toEqual({ URL: 'two', USER: 'app' })
      expect(await readTexts(place, 'db', 1)).toEqual({ URL: 'one', USER: 'app' })
      const history = await vault.history(asker, 'db')
      expect(history.map(({ version, fields }) => [version, ...fields])).toEqual([
        [3, 'ONLY'],
        [2, 'URL', 'USER'],
        [1, 'URL', 'USER'],
      ])
    }))

  test('a removed secret is gone with its versions, and its name begins anew', (database) =>
    at(database, async (place) => {
      const { vault, asker } = place
      await vault.replace(asker, 'db', valuesOf({ URL: 'old' }))
      await vault.remove(asker, 'db')
      await expectCode(vault.read(asker, 'db'), 'secret_missing')
      await expectCode(vault.remove(asker, 'db'), 'secret_missing')
      expect((await vault.replace(asker, 'db', valuesOf({ URL: 'new' }))).version).toBe(1)
      expect(await readTexts(place, 'db', 1)).toEqual({ URL: 'new' })
    }))

  test('many editors at once lose nothing, and a repeated request makes no second version', (database) =>
    at(database, async (place) => {
      const { vault, asker } = place
      const names = Array.from({ length: 8 }, (_, index) => `F${index}`)
      await Promise.all(names.map((name) => vault.edit(asker, 'db', valuesOf({ [name]: name }))))
      expect(Object.keys(await readTexts(place, 'db'))).toEqual(names)
      const again = { ...asker, idempotencyKey: 'once' }
      const first = await vault.edit(again, 'db', valuesOf({ F0: 'x' }))
      expect(await vault.edit(again, 'db', valuesOf({ F0: 'x' }))).toEqual(first)
      expect(first.version).toBe(9)
    }))

  test('a version that is not the expected one is refused, and so is a secret without fields', (database) =>
    at(database, async ({ vault, asker }) => {
      const values = valuesOf({ URL: 'x' })
      await vault.replace(asker, 'db', values, { ifVersion: 0 })
      await expectCode(vault.replace(asker, 'db', values, { ifVersion: 0 }), 'precondition_failed')
      await expectCode(vault.edit(asker, 'db', new Map([['URL', null]])), 'invalid_argument')
      expect((await vault.replace(asker, 'db', values, { ifVersion: 1 })).version).toBe(2)
    }))
}

function sealCases(test: StoreTest<Database>): void {
  test('no table of the database holds a value, in any spelling', (database) =>
    at(database, async ({ vault, asker }) => {
      const plain = randomBytes(24).toString('hex')
      await vault.edit(asker, 'db', valuesOf({ URL: `postgres://${plain}@db`, [`N${plain}`]: 'x' }))
      await vault.edit(asker, 'db', valuesOf({ OTHER: `<${plain}>` }))
      await vault.read(asker, 'db')
      const spellings = (text: string): string[] => [
        text,
        Buffer.from(text).toString('base64').slice(4, -4),
        Buffer.from(text).toString('hex'),
      ]
      const dump = await dumpVault(database, ['vault_fields.sealed', 'vault_versions.wrapped_key'])
      for (const spelling of spellings(`postgres://${plain}@db`))
        expect(dump.includes(spelling)).toBe(false)
      for (const spelling of spellings(`<${plain}>`)) expect(dump.includes(spelling)).toBe(false)
      // The search finds what is there: names of fields are no secret.
      expect((await dumpVault(database, ['vault_fields.field'])).includes(`N${plain}`)).toBe(true)
    }))

  for (const [what, from] of [
    ['field', 'B'],
    ['version', 'A'],
  ] as const)
    test(`the value of another ${what} in place of a value is found`, (database) =>
      at(database, async ({ vault, asker }) => {
        await vault.replace(asker, 'db', valuesOf({ A: 'a', B: 'b' }))
        await vault.replace(asker, 'db', valuesOf({ A: 'c', B: 'd' }))
        const [{ id } = {}] = await database.query(
          'SELECT id FROM vault_secrets WHERE workspace = ?',
          [Buffer.from(asker.workspace)],
        )
        const [row] = await database.query(
          'SELECT sealed FROM vault_fields WHERE secret = ? AND version = ? AND field = ?',
          [id!, what === 'field' ? 2 : 1, Buffer.from(from)],
        )
        await database.transact([
          {
            sql: 'UPDATE vault_fields SET sealed = ? WHERE secret = ? AND version = 2 AND field = ?',
            params: [row!['sealed']!, id!, Buffer.from('A')],
            expect: 1,
          },
        ])
        await expectCode(vault.read(asker, 'db', { field: 'A' }), 'corrupt')
        expect((await vault.read(asker, 'db', { field: 'B' })).values.get('B')?.toString()).toBe(
          'd',
        )
      }))
}

function forgetCases(test: StoreTest<Database>): void {
  test('a workspace that is forgotten has left nothing, and its neighbour everything', (database) =>
    at(database, async (place) => {
      const { vault, grants, audit, asker, journals } = place
      const other = { ...asker, workspace: uniqueId() }
      for (const each of [asker, other]) {
        await vault.replace(each, 'db', valuesOf({ N: '0' }))
        await journals.create(each, { id: 'j' })
        await journals.append(each, 'j', [{ type: 'a' }])
      }
      const tables = openVaultTables(database)
      expect(await tables.forget(asker.workspace)).toBe(true)
      expect(await tables.forget(asker.workspace)).toBe(false)
      expect(await audit.list(asker.workspace, {}, 10)).toEqual([])
      expect(await grants.list(asker.workspace, '', 10)).toEqual({ items: [] })
      await expectCode(journals.get(asker.workspace, 'j'), 'journal_missing')
      await expectCode(vault.read(asker, 'db'), 'secret_missing')
      expect(await readTexts({ ...place, asker: other }, 'db')).toEqual({ N: '0' })
      expect((await journals.verify(other.workspace, 'j')).entries).toBe(1)
    }))
}

function grantCases(test: StoreTest<Database>): void {
  const wish = {
    agent: 'alice',
    scopes: [{ secret: 'db', field: 'URL' }, { secret: 'ci-*' }],
    permissions: ['read'] as const,
    ttlMs: 60_000,
  }

  test('a grant shows its own fields; everything else is not there, and all of it is noted', (database) =>
    at(database, async (place) => {
      const { vault, grants, audit, asker } = place
      await vault.replace(asker, 'db', valuesOf({ URL: 'u', PASSWORD: 'p' }))
      await vault.replace(asker, 'ci-npm', valuesOf({ TOKEN: 't' }))
      await vault.replace(asker, 'other', valuesOf({ X: 'x' }))
      const { id } = await grants.issue(asker, 'owner', wish)
      const alice = { ...asker, actor: id, grant: await grants.open(id) }
      const seen = await vault.list(alice, '', 10)
      expect(seen.items.map(({ name, fields }) => [name, ...fields])).toEqual([
        ['ci-npm', 'TOKEN'],
        ['db', 'URL'],
      ])
      expect(Object.keys(await readTexts({ ...place, asker: alice }, 'db'))).toEqual(['URL'])
      const codes = [
        await codeOf(vault.read(alice, 'db', { field: 'PASSWORD' })),
        await codeOf(vault.read(alice, 'other')),
        await codeOf(vault.read(alice, 'ci-none')),
        await codeOf(vault.edit(alice, 'db', valuesOf({ URL: 'x' }))),
        await codeOf(vault.remove(alice, 'other')),
      ]
      expect(codes).toEqual([
        'secret_missing',
        'secret_missing',
        'secret_missing',
        'vault_denied',
        'secret_missing',
      ])
      const noted = await audit.list(asker.workspace, { agent: 'alice' }, 10)
      expect(
        noted.map(({ action, secret, field, outcome }) => [action, secret, field, outcome]),
      ).toEqual([
        ['remove', 'other', undefined, 'denied'],
        ['set', 'db', undefined, 'denied'],
        ['read', 'ci-none', undefined, 'missing'],
        ['read', 'other', undefined, 'denied'],
        ['read', 'db', 'PASSWORD', 'denied'],
        ['read', 'db', undefined, 'ok'],
      ])
    }))

  test('a grant to write one field reads nothing and replaces nothing', (database) =>
    at(database, async (place) => {
      const { vault, grants, asker } = place
      await vault.replace(asker, 'db', valuesOf({ URL: 'u', USER: 'app' }))
      const { id } = await grants.issue(asker, 'owner', { ...wish, permissions: ['write'] })
      const alice = { ...asker, actor: id, grant: await grants.open(id) }
      await vault.edit(alice, 'db', valuesOf({ URL: 'new' }))
      await expectCode(vault.edit(alice, 'db', valuesOf({ USER: 'x' })), 'vault_denied')
      await expectCode(vault.replace(alice, 'db', valuesOf({ URL: 'x' })), 'vault_denied')
      await expectCode(vault.read(alice, 'db'), 'vault_denied')
      expect(await readTexts(place, 'db')).toEqual({ URL: 'new', USER: 'app' })
    }))

  test('a grant learns nothing of other fields and secrets from receipts, cursors and empty edits', (database) =>
    at(database, async (place) => {
      const { vault, grants, asker } = place
      await vault.replace(asker, 'db', valuesOf({ URL: 'u', PASSWORD: 'p' }))
      for (const name of ['a-hidden', 'ci-1', 'ci-2', 'ci-hidden', 'z-hidden'])
        await vault.replace(asker, name, valuesOf({ X: 'x' }))
      const scopes = [{ secret: 'db', field: 'URL' }, { secret: 'ci-1' }, { secret: 'ci-2' }]
      const writes = { ...wish, scopes, permissions: ['read', 'write'] as const }
      const { id } = await grants.issue(asker, 'owner', writes)
      const alice = { ...asker, actor: id, grant: await grants.open(id) }
      const receipt = await vault.edit(alice, 'db', valuesOf({ URL: 'new' }))
      expect(receipt.fields).toEqual(['URL'])
      const cursors: (string | undefined)[] = []
      for (let after: string | undefined = ''; after !== undefined;) {
        const page: { next?: string } = await vault.list(alice, after, 1)
        cursors.push((after = page.next))
      }
      expect(cursors).toEqual(['ci-1', 'ci-2', undefined])

      const reader = await grants.issue(asker, 'owner', { ...writes, permissions: ['read'] })
      const bob = { ...asker, actor: reader.id, grant: await grants.open(reader.id) }
      await expectCode(vault.edit(bob, 'db', new Map()), 'vault_denied')
      await expectCode(vault.edit(bob, 'ci-1', new Map()), 'vault_denied')
      await expectCode(vault.edit(bob, 'a-hidden', new Map()), 'secret_missing')
      await expectCode(vault.edit(asker, 'db', new Map()), 'invalid_argument')
      expect((await vault.history(asker, 'db')).length).toBe(2)
    }))

  test('a grant to read what is not there is refused; patterns and writers are told', (database) =>
    at(database, async ({ vault, grants, asker }) => {
      await vault.replace(asker, 'db', valuesOf({ URL: 'u' }))
      const issue = (permissions: readonly ('read' | 'write')[], ...scopes: VaultScope[]) =>
        grants.issue(asker, 'owner', { ...wish, permissions, scopes })
      await expectCode(issue(['read'], { secret: 'bd' }), 'secret_missing')
      await expectCode(issue(['read'], { secret: 'db', field: 'ULR' }), 'secret_missing')
      expect((await issue(['read'], { secret: 'd*' }, { secret: 'x*' })).unmatched).toEqual(['x*'])
      expect((await issue(['write'], { secret: 'new', field: 'F' })).unmatched).toEqual(['new/F'])
    }))

  test('a grant ends at its time and at its revocation; of its token no trace is stored', async (database) => {
    let nowMs = Date.now()
    const time: Clock = { ...clock, nowMs: () => nowMs }
    const inTime = async ({ vault, grants, audit, asker }: VaultStores): Promise<void> => {
      await vault.replace(asker, 'db', valuesOf({ URL: 'u' }))
      const made = await grants.issue({ ...asker, idempotencyKey: 'k' }, 'owner', wish)
      const again = await grants.issue({ ...asker, idempotencyKey: 'k' }, 'owner', wish)
      expect(again.token).toBe(made.token)
      expect(await grants.open(made.id)).toMatchObject({ agent: 'alice' })
      nowMs += wish.ttlMs
      await expectCode(grants.open(made.id), 'unauthenticated')
      const other = await grants.issue(asker, 'owner', wish)
      await grants.revoke(asker, other.id)
      await expectCode(grants.open(other.id), 'unauthenticated')
      await expectCode(grants.revoke(asker, 'grant_none'), 'grant_missing')
      const refused = await audit.list(asker.workspace, { outcome: 'denied' }, 10)
      expect(refused.map(({ action }) => action)).toEqual([
        'use revoked grant',
        'use expired grant',
      ])
      const [, , secret] = made.token.split('.')
      const dump = await dumpVault(database, ['vault_grants.secret_hash'])
      expect(dump.includes(secret!)).toBe(false)
    }
    await at(database, inTime, time)
  })
}

function rotationCases(test: StoreTest<Database>): void {
  test('the master key is changed under readers and writers, and none of them notices', (database) =>
    at(database, async (place) => {
      const { vault, asker, master, rotate } = place
      await vault.replace(asker, 'db', valuesOf({ N: '0' }))
      const first = master.id
      let isOver = false
      const work = async (worker: number): Promise<number> => {
        let rounds = 0
        while (!isOver || rounds === 0) {
          await vault.edit(asker, `db${worker}`, valuesOf({ N: String(++rounds) }))
          expect(await readTexts(place, `db${worker}`)).toEqual({ N: String(rounds) })
          expect(await readTexts(place, 'db')).toEqual({ N: '0' })
        }
        return rounds
      }
      const workers = [1, 2, 3].map(work)
      const ids = new Set([first])
      try {
        for (const { masterKey } of await Promise.all([rotate(), rotate()])) ids.add(masterKey)
        for (let times = 0; times < 2; times++) ids.add((await rotate()).masterKey)
      } finally {
        isOver = true
      }
      for (const rounds of await Promise.all(workers)) expect(rounds > 0).toBe(true)
      expect(ids.size).toBe(5)
      const [row] = await database.query(
        'SELECT master_id FROM workspace_keys WHERE workspace = ?',
        [Buffer.from(asker.workspace)],
      )
      expect(Buffer.from(row!['master_id'] as Uint8Array).toString()).toBe(master.id)
    }))

  test('without the master key it was wrapped by, nothing opens, and the message names its id', (database) =>
    at(database, async ({ vault, asker, master, directory }) => {
      await vault.replace(asker, 'db', valuesOf({ N: '0' }))
      const file = join(directory, 'other-keys')
      await writeFile(file, `${'ab'.repeat(32)}\n`)
      const strange = await openMasterKey({ data: directory, file })
      const other = openVaultDoor({ vault: openVaultTables(database) }, strange, clock)
      await expectCode(other.vault.read(asker, 'db'), 'storage_misconfigured', master.id)
    }))
}

/** Those columns of everything in the database, as one text. */
async function dumpVault(database: Database, columns: readonly string[]): Promise<string> {
  const texts: string[] = []
  for (const column of columns) {
    const [table, name] = column.split('.')
    for (const row of await database.query(`SELECT ${name} FROM ${table}`, []))
      texts.push(Buffer.from(row[name!] as Uint8Array).toString('latin1'))
  }
  return texts.join('\n')
}
