import { O_CREAT, O_WRONLY, S_IFIFO } from '../constants.ts'
import {
  ANN,
  ANN_IN_TEAM,
  create,
  createFor,
  directory,
  directoryFor,
  owner,
  permissions,
  TEAM,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** A directory of the team in which everybody may create, and whose group its children take. */
async function createTeamDirectory(fs: Subject): Promise<void> {
  await directory(fs, 'team')
  await fs.chown('team', 0, TEAM)
  await fs.chmod('team', 0o2777)
}

export const setGroupIdQuestions: readonly Question[] = [
  {
    fact: 'set-group-id directory › new file: takes the group of the directory, not the bit',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.as(ANN).open('team/f', O_WRONLY | O_CREAT, 0o664)
      return [await owner(fs, 'team/f'), await permissions(fs, 'team/f')]
    },
    expect: ['1001:2000', '0644'],
  },
  {
    fact: 'set-group-id directory › new directory: takes the group and the bit',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.as(ANN).mkdir('team/d', 0o755)
      return [await owner(fs, 'team/d'), await permissions(fs, 'team/d')]
    },
    expect: ['1001:2000', '2755'],
  },
  {
    fact: 'set-group-id directory › new symlink, new FIFO: take the group',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      const ann = fs.as(ANN)
      await ann.symlink('target', 'team/s')
      await ann.mknod('team/p', S_IFIFO | 0o644)
      return [await owner(fs, 'team/s'), await owner(fs, 'team/p'), await permissions(fs, 'team/p')]
    },
    expect: ['1001:2000', '1001:2000', '0644'],
  },
  {
    fact: 'set-group-id directory › two levels down: the group and the bit are still taken',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      const ann = fs.as(ANN)
      await ann.mkdir('team/d')
      await ann.mkdir('team/d/e')
      await create(ann, 'team/d/e/f')
      return [await permissions(fs, 'team/d/e'), await owner(fs, 'team/d/e/f')]
    },
    expect: ['2755', '1001:2000'],
  },
  {
    fact: 'set-group-id directory › moved or linked into it: keeps its own group',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await createFor(fs, ANN, 'f')
      await fs.link('f', 'team/linked')
      await fs.rename('f', 'team/moved')
      return [await owner(fs, 'team/linked'), await owner(fs, 'team/moved')]
    },
    expect: ['1001:1001', '1001:1001'],
  },
  {
    fact: 'set-group-id directory › program made with the bit outside the group: dropped',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.as(ANN).open('team/program', O_WRONLY | O_CREAT, 0o2755)
      return permissions(fs, 'team/program')
    },
    expect: '0755',
  },
  {
    fact: 'set-group-id directory › program made with the bit in the group: kept',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.as(ANN_IN_TEAM).open('team/program', O_WRONLY | O_CREAT, 0o2755)
      return permissions(fs, 'team/program')
    },
    expect: '2755',
  },
  {
    fact: 'set-group-id directory › made with the bit, no group execute: kept outside it too',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.as(ANN).open('team/f', O_WRONLY | O_CREAT, 0o2744)
      return permissions(fs, 'team/f')
    },
    expect: '2744',
  },
  {
    fact: 'set-group-id directory › without the bit: a new file takes the group of who makes it',
    root: true,
    ask: async (fs) => {
      await createTeamDirectory(fs)
      await fs.chmod('team', 0o777)
      await create(fs.as(ANN_IN_TEAM), 'team/f')
      return owner(fs, 'team/f')
    },
    expect: '1001:1001',
  },
  {
    fact: 'set-group-id › chmod by an owner outside the group: succeeds, but the bit is dropped',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { ...ANN, gid: TEAM }, 'f', 0o755)
      await fs.as(ANN).chmod('f', 0o6755)
      return permissions(fs, 'f')
    },
    expect: '4755',
  },
  {
    fact: 'set-group-id › chmod by an owner in the group: the bit is kept',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { ...ANN, gid: TEAM }, 'f', 0o755)
      await fs.as(ANN_IN_TEAM).chmod('f', 0o2755)
      return permissions(fs, 'f')
    },
    expect: '2755',
  },
  {
    fact: 'set-group-id › chmod of a directory by an owner outside the group: dropped too',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, { ...ANN, gid: TEAM }, 'd')
      await fs.as(ANN).chmod('d', 0o2755)
      return permissions(fs, 'd')
    },
    expect: '0755',
  },
  {
    fact: 'set-group-id › chmod without group execute by an owner outside the group: dropped too',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { ...ANN, gid: TEAM }, 'f', 0o755)
      await fs.as(ANN).chmod('f', 0o2745)
      return permissions(fs, 'f')
    },
    expect: '0745',
  },
]
