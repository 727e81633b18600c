import { describe, expect, it } from 'vitest'
import { type CommandSpec, type Parsed } from './command.ts'
import { parseArguments } from './parse.ts'

const spec: CommandSpec = {
  summary: 'Try',
  arguments: {
    source: { summary: 'from' },
    rest: { summary: 'more', optional: true, many: true },
  },
  options: {
    recursive: { kind: 'flag', short: 'r', summary: 'deep' },
    long: { kind: 'flag', short: 'l', summary: 'wide' },
    name: { kind: 'text', value: 'NAME', summary: 'a name' },
    size: { kind: 'text', value: '±N', summary: 'a size' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'a number' },
    tag: { kind: 'list', short: 't', value: 'K=V', summary: 'several' },
    output: { kind: 'choice', short: 'o', choices: ['text', 'json'], summary: 'one of two' },
  },
  examples: [{ command: 'cairn try', does: 'try' }],
}

const parse = (...tokens: string[]): Parsed => parseArguments('try', spec, tokens)
const optionsOf = (...tokens: string[]): Parsed['options'] => parse('a', ...tokens).options

describe('options', () => {
  it('options are absent by default', () => {
    expect(optionsOf()).toEqual({
      recursive: false,
      long: false,
      name: undefined,
      size: undefined,
      limit: undefined,
      tag: [],
      output: undefined,
      json: false,
      help: false,
    })
  })

  it.each([[['--name', 'x']], [['--name=x']], [['-name', 'x']], [['-name=x']]])(
    '%j: one dash or two, with a blank or an equals sign',
    (tokens) => {
      expect(optionsOf(...tokens)['name']).toBe('x')
    },
  )

  it.each([[['-n', '20']], [['-n20']], [['-n=20']], [['--limit', '20']]])(
    '%j is a number',
    (tokens) => {
      expect(optionsOf(...tokens)['limit']).toBe(20)
    },
  )

  it('flags of one letter may be joined, the last one with its value', () => {
    expect(optionsOf('-rl')).toMatchObject({ recursive: true, long: true })
    expect(optionsOf('-rn', '3')).toMatchObject({ recursive: true, limit: 3 })
  })

  it('a long name with one dash wins over joined letters', () => {
    expect(optionsOf('-long')).toMatchObject({ long: true, output: undefined, limit: undefined })
  })

  it('stand anywhere', () => {
    for (const tokens of [
      ['--name', 'x', 'a', 'b', '-r'],
      ['a', '-r', 'b', '--name', 'x'],
      ['-r', 'a', '--name=x', 'b'],
    ]) {
      const { args, options } = parse(...tokens)
      expect(args).toEqual({ source: 'a', rest: ['b'] })
      expect(options).toMatchObject({ name: 'x', recursive: true })
    }
  })

  it('may be repeated where that means something', () => {
    expect(optionsOf('-t', 'a=1', '--tag=b=2')['tag']).toEqual(['a=1', 'b=2'])
    expect(() => optionsOf('--name', 'a', '--name', 'b')).toThrow('it is given twice')
  })

  it('a value may begin with a dash, be empty or have equals signs', () => {
    expect(optionsOf('-size', '-10k')['size']).toBe('-10k')
    expect(optionsOf('--name=')['name']).toBe('')
    expect(optionsOf('--name=a=b')['name']).toBe('a=b')
    expect(optionsOf('--name', '-')['name']).toBe('-')
  })

  it('a flag can be taken back', () => {
    expect(optionsOf('-r', '--recursive=false')['recursive']).toBe(false)
  })

  it.each([
    [['--name'], 'its value is missing'],
    [['--name', '--'], 'its value is missing'],
    [['--name', '--long'], 'its value is missing'],
    [['--name', '-r'], 'its value is missing'],
    [['--limit', 'ten'], "'ten' is no whole number"],
    [['--limit', '-1'], "'-1' is no whole number"],
    [['--limit', '1e3'], "'1e3' is no whole number"],
    [['-o', 'xml'], "'xml' is none of text, json"],
    [['--long=maybe'], 'it takes no value'],
  ])('%j: %s', (tokens, message) => {
    expect(() => optionsOf(...tokens)).toThrow(message)
  })

  it.each([
    ['--recursiv', '--recursive'],
    ['--nmae=x', '--name'],
    ['-recrusive', '--recursive'],
    ['--lim', '--limit'],
  ])('%s is unknown, and the nearest is named', (token, nearest) => {
    expect(() => optionsOf(token)).toThrow(`Did you mean ${nearest}?`)
  })

  it.each(['--xyzzy', '-x', '-rx', '--__proto__', '--constructor'])(
    '%s is like nothing',
    (token) => {
      expect(() => optionsOf(token)).toThrow(
        `cannot take the option ${token}: the command has no such option. See cairn try --help.`,
      )
    },
  )
})

describe('arguments', () => {
  it('-- ends the options, and - is one', () => {
    expect(parse('-', '--', '--name', '-r').args).toEqual({ source: '-', rest: ['--name', '-r'] })
  })

  it('one that is missing is named', () => {
    expect(() => parse('-r')).toThrow(
      'cannot run cairn try: SOURCE is missing. See cairn try --help.',
    )
  })

  it('one argument too many is named in the error', () => {
    const single = { ...spec, arguments: { path: { summary: 'one', optional: true } } } as const
    expect(parseArguments('try', single, []).args).toEqual({ path: undefined })
    expect(() => parseArguments('try', single, ['a', 'b'])).toThrow("'b' is one argument too many")
  })
})
