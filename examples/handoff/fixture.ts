/** A small repository, so that the example needs no network: text, a program, a link, something left to do. */
export const fixtureFiles: Readonly<Record<string, string>> = {
  'README.md': `# tide-table

Tells when the water is high at a place, from the harmonic constants of its tide gauge.

    bin/tides harbour.json 2031-05-01

It predicts by adding up cosines; weather is not considered.
`,
  'package.json': `${JSON.stringify(
    { name: 'tide-table', version: '0.3.0', type: 'module', bin: { tides: 'bin/tides' } },
    null,
    2,
  )}
`,
  'bin/tides': `#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { formatTable } from '../src/format.js'
import { findHighWaters } from '../src/tides.js'

const [file, day] = process.argv.slice(2)
console.log(formatTable(findHighWaters(JSON.parse(readFileSync(file, 'utf8')), new Date(day))))
`,
  'src/tides.js': `/** Predicts the height of the water from harmonic constants. */
export function heightAt({ constituents, mean }, time) {
  const hours = time.getTime() / 3_600_000
  return constituents.reduce(
    (height, { amplitude, speed, phase }) =>
      height + amplitude * Math.cos(((speed * hours - phase) * Math.PI) / 180),
    mean,
  )
}

/** The times of a day at which the water stops rising, to the minute. */
export function findHighWaters(place, day) {
  const found = []
  for (let minute = 1; minute < 24 * 60; minute++) {
    const [before, now, after] = [-1, 0, 1].map((step) =>
      heightAt(place, new Date(day.getTime() + (minute + step) * 60_000)),
    )
    if (before < now && now >= after) found.push({ minute, height: now })
  }
  return found
}
`,
  'src/format.js': `/** A line for each high water: 04:17  3.2 m */
export function formatTable(waters) {
  // TODO: low waters, too; sailors ask for them first.
  return waters.map(({ minute, height }) => \`\${clock(minute)}  \${height.toFixed(1)} m\`).join('\\n')
}

function clock(minute) {
  return [minute / 60, minute % 60].map((n) => String(Math.floor(n)).padStart(2, '0')).join(':')
}
`,
  'docs/constants.md': `# Harmonic constants

Amplitude in metres, speed in degrees an hour, phase in degrees. TODO: say where to get them.
`,
}

/** Its files answer this, even if you only compare words. */
export const fixtureQuestion = 'When is the water high, and is the weather considered?'

/** Run in its directory. Its commit has the same name every time. */
export const fixtureSetup: string = [
  'chmod +x bin/tides',
  'ln -s docs/constants.md CONSTANTS',
  'git init -q -b main',
  'git add -A',
  "GIT_AUTHOR_DATE='2031-05-01T08:00:00Z' GIT_COMMITTER_DATE='2031-05-01T08:00:00Z' " +
    "git -c user.name=Example -c user.email=example@example.org commit -q -m 'Predict high waters'",
].join(' && ')
