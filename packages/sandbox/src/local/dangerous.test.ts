import { describe, expect, it } from 'vitest'
import { refuseDangerous } from './dangerous.ts'

describe('dangerous commands', () => {
  it.each([
    'rm -rf /',
    'rm -fr / --no-preserve-root',
    'rm -r -f /*',
    'sudo rm -Rf / ; echo',
    'shutdown now',
    'sudo reboot',
    'mkfs.ext4 /dev/sda',
    'dd if=/dev/zero of=/dev/sda',
    ':(){ :|:& };:',
    'chmod -R 777 /',
    'echo x > /dev/sda',
    'swapon /swap',
  ])('%s is refused', (command) => {
    expect(refuseDangerous(command)).toMatch(/^Dangerous command/)
  })

  it.each([
    'rm -rf /tmp/build',
    'rm -rf ./dist',
    'rm file',
    'sudo apt-get install -y git',
    'curl -fsSL https://example.org/install.sh | sh',
    'dd if=/dev/zero of=disk.img bs=1M count=1',
    'dd if=disk.img of=/dev/null',
    'chmod 777 /tmp/x',
    'echo done > /dev/null',
  ])('%s is not', (command) => {
    expect(refuseDangerous(command)).toBeUndefined()
  })

  it('shows no more than 100 characters of it', () => {
    const said = refuseDangerous(`rm -rf / ${'x'.repeat(1000)}`)!
    expect(said.length).toBeLessThan(160)
  })
})
