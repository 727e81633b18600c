import { describe, expect, it } from 'vitest'
import { builtInImages, specOf } from './images.ts'

const spec = (image: string): unknown => {
  const { suite, node, runsCode } = specOf(image, 'amd64')
  return [suite, node, runsCode]
}

describe('images', () => {
  it.each([
    ['debian', 'trixie'],
    ['debian:stable-slim', 'trixie'],
    ['debian:12', 'bookworm'],
    ['debian:12.9-slim', 'bookworm'],
    ['docker.io/library/debian:bookworm-slim', 'bookworm'],
    ['python', 'bookworm'],
    ['python:3.11', 'bookworm'],
    ['python:3.13-slim', 'trixie'],
    ['python:3-slim-trixie', 'trixie'],
  ])('%s is Debian %s', (image, suite) => {
    expect(spec(image)).toEqual([suite, undefined, false])
  })

  it.each([
    ['node', '24'],
    ['node:lts-slim', '24'],
    ['node:22', '22'],
    ['node:24.1.0-bookworm-slim', '24.1.0'],
    ['node:current', 'latest'],
    ['e2bdev/base', '24'],
    ['e2b/base:latest', '24'],
  ])('%s has Node %s of npm', (image, node) => {
    expect(spec(image)).toEqual(['bookworm', node, false])
  })

  it.each([
    'ubuntu:22.04',
    'debian:11',
    'python:3.12',
    'python:3.11.4',
    'python:3.13-bookworm',
    'node:24-alpine',
    'registry.example.org/mine:1',
    '',
  ])('%s is refused with what there is instead', (image) => {
    expect(() => spec(image)).toThrow(
      /^this server cannot make the image .*: .+\. Start from debian:12, .*or a template\.$/,
    )
  })

  it('the images of all built-in templates can be made', () => {
    for (const image of Object.values(builtInImages)) expect(() => spec(image)).not.toThrow()
  })
})
