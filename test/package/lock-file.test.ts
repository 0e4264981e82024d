// `npm ci` installs what the lock file lists, on any platform and from any registry.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))

const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Locked>> }
const installed = Object.entries(packages).filter(([path]) => path !== '')

test('the lock file agrees with package.json', () => {
  const declared = read('package.json') as Record<string, unknown>
  const locked = packages[''] as Record<string, unknown>
  for (const field of ['name', 'version', 'dependencies', 'devDependencies', 'bin', 'engines']) {
    expect({ [field]: locked[field] }).toEqual({ [field]: declared[field] })
  }
})

test('every package has a version and a checksum, and may come from any registry', () => {
  expect(installed.length).toBeGreaterThan(100)
  const wrong = installed.filter(
    ([, { version, integrity, resolved }]) => !version || !integrity?.startsWith('sha512-') || resolved !== undefined,
  )
  expect(wrong).toEqual([])
})

// `npm ci` refuses a lock file that lacks one, though it would not install it on this platform.
test('all dependencies are listed, including those for other platforms', () => {
  const missing = installed.flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...optionalDependencies })
      .filter(([name]) => lookUp(path, name) === undefined)
      .map(([name, range]) => `${path} needs ${name} ${range}`),
  )
  expect(missing).toEqual([])
})

/** As Node resolves a package: in the directory of the importing package, then in its parents. */
function lookUp(from: string, name: string): Locked | undefined {
  const nested = `/${from}`.split('/node_modules/')
  return nested
    .map((_, depth) => [...nested.slice(0, depth + 1), name].join('/node_modules/').slice(1))
    .toReversed()
    .map(path => packages[path])
    .find(found => found !== undefined)
}
