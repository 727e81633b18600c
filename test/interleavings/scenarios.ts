import type { Scenario } from './scenario.ts'

/** Each is small, so that many orders can be tried, and asks one question. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'two holders work in the directory that a third one looks into',
    holders: ['a', 'b'],
    programs: {
      a: [{ does: 'create', in: 'p' }],
      b: [{ does: 'create', in: 'p' }],
      c: [{ does: 'look', in: 'p' }],
    },
  },
  {
    name: 'three holders want one name',
    holders: ['a', 'b', 'c'],
    programs: {
      a: [{ does: 'contend', in: 'p' }],
      b: [{ does: 'contend', in: 'p' }],
      c: [{ does: 'contend', in: 'p' }],
    },
  },
  {
    name: 'files go round in a circle of three directories',
    holders: ['a', 'b', 'c'],
    programs: {
      a: [{ does: 'move', in: 'p', to: 'q' }],
      b: [{ does: 'move', in: 'q', to: 'r' }],
      c: [{ does: 'move', in: 'r', to: 'p' }],
    },
  },
  {
    name: 'two directories are moved into each other while a file is made in one',
    holders: ['a', 'b', 'c'],
    programs: {
      a: [{ does: 'move directory', in: 'p', to: 'q' }],
      b: [{ does: 'move directory', in: 'q', to: 'p' }],
      c: [{ does: 'create', in: 'q' }],
    },
  },
  {
    name: 'a directory is made, and the one above it is moved, while another session looks',
    holders: ['a', 'b'],
    programs: {
      a: [{ does: 'mkdir', in: 'p' }],
      b: [{ does: 'move directory', in: 'p', to: 'r' }],
      c: [{ does: 'look', in: 'p' }],
    },
  },
  {
    name: 'a session without the lease works beside two that hold it',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'remove', in: 'p' },
      ],
      b: [{ does: 'move', in: 'q', to: 'p' }],
      c: [{ does: 'create', in: 'p' }],
    },
  },
  {
    name: 'a request by path meets moves by two holders',
    holders: ['a', 'b'],
    programs: {
      a: [{ does: 'move', in: 'p', to: 'q' }],
      b: [{ does: 'move', in: 'q', to: 'p' }],
    },
    requests: ['p', 'q'],
  },
  {
    name: 'the connection of a holder breaks',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      b: [
        { does: 'create', in: 'p' },
        { does: 'look', in: 'p' },
      ],
    },
    troubles: [{ type: 'cut', who: 'a' }],
  },
  {
    name: 'two sessions look into a directory in which a holder works',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      b: [{ does: 'look', in: 'p' }],
      c: [{ does: 'look', in: 'p' }],
    },
  },
  {
    name: 'a co-holder makes a directory',
    holders: ['a', 'b'],
    programs: {
      a: [{ does: 'create', in: 'p' }],
      b: [{ does: 'mkdir', in: 'p' }],
      c: [{ does: 'look', in: 'p' }],
    },
  },
  {
    name: 'the connection of a session that has looked breaks',
    holders: ['a', 'b'],
    before: [['c', { does: 'look', in: 'p' }]],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      c: [{ does: 'look', in: 'p' }],
    },
    troubles: [{ type: 'cut', who: 'c' }],
  },
  {
    name: 'the connection of a holder that has looked breaks',
    holders: ['a', 'b'],
    before: [
      ['b', { does: 'create', in: 'p' }],
      ['a', { does: 'look', in: 'p' }],
    ],
    programs: {
      a: [{ does: 'look', in: 'p' }],
      b: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
    },
    troubles: [{ type: 'cut', who: 'a' }],
  },
  {
    name: 'the first holder leaves, and the next one has made a directory',
    holders: ['a', 'b', 'c'],
    before: [['b', { does: 'create', in: 'p' }]],
    programs: {
      b: [{ does: 'mkdir', in: 'p' }],
      c: [{ does: 'create in made', in: 'p' }],
    },
    troubles: [{ type: 'leaves', who: 'a' }],
  },
  {
    name: 'a holder dies and is passed over',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'q' },
      ],
      b: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'q' },
      ],
    },
    troubles: [
      { type: 'dies', who: 'a' },
      { type: 'lapses', who: 'a' },
    ],
  },
  {
    name: 'a co-holder dies and is passed over',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'q' },
      ],
      b: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'q' },
      ],
    },
    troubles: [
      { type: 'dies', who: 'b' },
      { type: 'lapses', who: 'b' },
    ],
  },
  {
    name: 'a co-holder freezes, is passed over, and runs again',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
      ],
      b: [{ does: 'create', in: 'q' }],
    },
    troubles: [
      { type: 'freezes', who: 'b' },
      { type: 'lapses', who: 'b' },
    ],
  },
  {
    name: 'a recall takes too long',
    holders: ['a', 'b'],
    programs: {
      a: [{ does: 'create', in: 'p' }],
      b: [{ does: 'create', in: 'q' }],
      c: [{ does: 'move', in: 'p', to: 'q' }],
    },
    troubles: [{ type: 'freezes', who: 'a' }, { type: 'overdue' }],
  },
  {
    name: 'the server does not wait for answers',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'q' },
      ],
      b: [{ does: 'move', in: 'p', to: 'q' }],
    },
    isHasty: true,
  },
  {
    name: 'a session comes to hold the lease while others work',
    holders: ['a'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'mkdir', in: 'q' },
      ],
      b: [
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
      ],
    },
  },
  {
    name: 'two holders use up a quota',
    holders: ['a', 'b'],
    maxFiles: 9,
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      b: [
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
      ],
    },
    requests: ['r'],
  },
  {
    name: 'a holder that was promised room is cut off',
    holders: ['a', 'b'],
    maxFiles: 8,
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      b: [
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
      ],
    },
    troubles: [{ type: 'cut', who: 'a' }],
  },
  {
    name: 'a holder that was promised room dies and is passed over',
    holders: ['a', 'b'],
    maxFiles: 8,
    programs: {
      a: [{ does: 'create', in: 'p' }],
      b: [
        { does: 'create', in: 'q' },
        { does: 'create', in: 'q' },
      ],
    },
    troubles: [
      { type: 'dies', who: 'a' },
      { type: 'lapses', who: 'a' },
    ],
  },
  {
    name: 'a directory is contested, and is not after a while',
    holders: ['a', 'b'],
    programs: {
      a: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
      b: [
        { does: 'create', in: 'p' },
        { does: 'create', in: 'p' },
      ],
    },
    troubles: [{ type: 'pause' }],
  },
]
