import { PatternError } from '../pattern/ast.ts'
import { compileGlob, type GlobTest } from './glob.ts'

/** File types by name, as ripgrep names them. */
const types: Readonly<Record<string, string>> = {
  asm: '*.asm *.s *.S',
  awk: '*.awk',
  bazel: '*.bazel *.bzl WORKSPACE BUILD',
  c: '*.[chH] *.[chH].in *.cats',
  clojure: '*.clj *.cljc *.cljs *.cljx',
  cmake: '*.cmake CMakeLists.txt',
  config: '*.cfg *.conf *.config *.ini',
  cpp: '*.[ChH] *.cc *.cpp *.cxx *.hh *.hpp *.hxx *.inl',
  cs: '*.cs',
  csharp: '*.cs',
  css: '*.css *.scss',
  csv: '*.csv',
  dart: '*.dart',
  docker: '*Dockerfile*',
  elixir: '*.ex *.exs *.eex *.heex *.leex',
  erlang: '*.erl *.hrl',
  fish: '*.fish',
  go: '*.go',
  gradle: '*.gradle *.gradle.kts',
  graphql: '*.graphql *.graphqls',
  groovy: '*.groovy *.gradle',
  h: '*.h *.hh *.hpp',
  haskell: '*.hs *.lhs *.cpphs *.c2hs *.hsc',
  html: '*.htm *.html *.ejs',
  java: '*.java *.jsp *.jspx *.properties',
  js: '*.js *.jsx *.cjs *.mjs *.vue',
  json: '*.json composer.lock *.sarif',
  jsonl: '*.jsonl',
  julia: '*.jl',
  kotlin: '*.kt *.kts',
  less: '*.less',
  lock: '*.lock package-lock.json',
  log: '*.log',
  lua: '*.lua',
  make: '*.mk *.mak [Mm]akefile [Gg][Nn][Uu]makefile Makefile.am Makefile.in',
  markdown: '*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn',
  md: '*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn',
  nix: '*.nix',
  ocaml: '*.ml *.mli *.mll *.mly',
  perl: '*.pl *.pm *.PL *.perl *.plh *.plx *.t',
  php: '*.php *.php3 *.php4 *.php5 *.phtml',
  proto: '*.proto',
  protobuf: '*.proto',
  py: '*.py *.pyi',
  python: '*.py *.pyi',
  r: '*.R *.r *.Rmd *.Rnw',
  rst: '*.rst',
  ruby: '*.rb *.rbw *.gemspec Gemfile Rakefile config.ru',
  rust: '*.rs',
  scala: '*.scala *.sbt',
  sh: '*.bash *.csh *.ksh *.sh *.tcsh *.zsh',
  sql: '*.sql *.psql',
  svelte: '*.svelte',
  svg: '*.svg',
  swift: '*.swift',
  terraform: '*.tf *.tfvars *.tf.json',
  tex: '*.tex *.cls *.sty *.bib *.dtx *.ltx',
  toml: '*.toml Cargo.lock',
  ts: '*.ts *.tsx *.cts *.mts',
  typescript: '*.ts *.tsx *.cts *.mts',
  txt: '*.txt',
  vim: '*.vim',
  vue: '*.vue',
  xml: '*.xml *.xsd *.xsl *.xslt *.dtd *.rng *.sch *.xjb *.xhtml',
  yaml: '*.yaml *.yml',
  zig: '*.zig',
  zsh: '*.zsh .zshenv .zprofile .zshrc .zlogin .zlogout zshenv zprofile zshrc zlogin zlogout',
}

const typeNames: readonly string[] = Object.keys(types)

/** A test for files of any of these types. Throws for a name that is none. */
export function compileTypes(names: readonly string[]): GlobTest | undefined {
  if (names.length === 0) return undefined
  const tests = names.flatMap((name) => {
    const globs = Object.hasOwn(types, name) ? types[name]! : undefined
    if (globs === undefined)
      throw new PatternError(`there is no file type '${name}'; there is ${typeNames.join(', ')}`)
    return globs.split(' ').map((glob) => compileGlob(`**/${glob}`))
  })
  return (path) => tests.some((test) => test(path))
}
