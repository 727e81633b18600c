import { type Arch, type BaseSpec, basePackages, codePackages } from './spec.ts'

/** An image that this machine cannot make. */
export class ImageError extends Error {}

/** Versions of Debian by the names of its images. */
const debians: Readonly<Record<string, string>> = { '12': 'bookworm', '13': 'trixie' }
/** Each Debian has one Python. */
const pythons: Readonly<Record<string, string>> = { '3.11': 'bookworm', '3.13': 'trixie' }
const suiteDefault = 'bookworm'
const nodeDefault = '24'
const choices =
  'Start from debian:12, debian:13, python:3.11, python:3.13, node:24 (or another major version), e2bdev/base, ' +
  'e2bdev/code-interpreter, or a template.'

/** The templates that are always there, and the image that each is. */
export const builtInImages: Readonly<Record<string, string>> = {
  base: 'e2bdev/base',
  python: 'python:3',
  node: 'node:24',
  'code-interpreter-v1': 'e2bdev/code-interpreter',
}

/** How to make what an image's name promises; throws if Debian and npm do not have it. */
export function specOf(image: string, arch: Arch): BaseSpec {
  const { name, version, suite } = parse(image)
  switch (name) {
    case 'debian':
      return debian(image, arch, suite ?? suiteOfDebian(version))
    case 'python':
      return debian(image, arch, suiteOfPython(version, suite))
    case 'node':
      return withNode(debian(image, arch, suite ?? suiteDefault), nodeOf(image, version))
    case 'e2b/base':
    case 'e2bdev/base':
      return withNode(debian(image, arch, suiteDefault), nodeDefault)
    case 'e2b/code-interpreter':
    case 'e2bdev/code-interpreter': {
      const base = withNode(debian(image, arch, suiteDefault), nodeDefault)
      return { ...base, packages: [...basePackages, ...codePackages], runsCode: true }
    }
    default:
      throw refusal(
        image,
        'it fetches no images, and makes these from the packages of Debian and npm',
      )
  }
}

interface ImageName {
  readonly name: string
  /** Empty: the newest that there is. */
  readonly version: string
  readonly suite: string | undefined
}

/** `python:3.11-slim-bookworm` is version 3.11 on bookworm. */
function parse(image: string): ImageName {
  const [name = '', tag = ''] = image.replace(/^(?:docker\.io\/)?(?:library\/)?/, '').split(':')
  const words = tag.split('-').filter((word) => word !== 'slim')
  const suite = words.find((word) => Object.values(debians).includes(word))
  const version = words.filter((word) => word !== suite).join('-')
  return { name, version: /^(?:latest|stable)$/.test(version) ? '' : version, suite }
}

function suiteOfDebian(version: string): string | undefined {
  return version === '' ? debians['13'] : debians[version.split('.')[0]!]
}

/** A Debian has one Python; `3` is satisfied by any. */
function suiteOfPython(version: string, suite: string | undefined): string | undefined {
  if (version === '' || version === '3') return suite ?? suiteDefault
  const found = pythons[version]
  return suite === undefined || suite === found ? found : undefined
}

function debian(image: string, arch: Arch, suite: string | undefined): BaseSpec {
  if (suite === undefined)
    throw refusal(image, 'it makes Debian 12 and 13, which do not have that version')
  return { arch, suite, packages: basePackages, node: undefined, runsCode: false }
}

function withNode(base: BaseSpec, node: string): BaseSpec {
  return { ...base, node }
}

function nodeOf(image: string, version: string): string {
  if (version === '' || version === 'lts') return nodeDefault
  if (version === 'current') return 'latest'
  if (/^\d+(?:\.\d+){0,2}$/.test(version)) return version
  throw refusal(image, 'that is no version of Node')
}

function refusal(image: string, why: string): ImageError {
  return new ImageError(`this server cannot make the image ${image}: ${why}. ${choices}`)
}
