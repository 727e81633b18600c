import { describe, expect, it } from 'vitest'
import { loadsCode } from './loading-names.ts'

describe('variables that make programs load code', () => {
  it.each([
    ['PATH', true],
    ['LD_PRELOAD', true],
    ['DYLD_INSERT_LIBRARIES', true],
    ['BASH_ENV', true],
    ['NODE_OPTIONS', true],
    ['PYTHONPATH', true],
    ['PYTHONSTARTUP', true],
    ['PERL5OPT', true],
    ['RUBYOPT', true],
    ['JAVA_TOOL_OPTIONS', true],
    ['GIT_SSH_COMMAND', true],
    ['GIT_CONFIG_COUNT', true],
    ['npm_config_script_shell', true],
    ['DB_URL', false],
    ['NODE_AUTH_TOKEN', false],
    ['GIT_TOKEN', false],
    ['CARGO_REGISTRY_TOKEN', false],
    ['API_PATH', false],
  ])('%s: %s', (name, loads) => expect(loadsCode(name)).toBe(loads))
})
