// Which release of Kubernetes the server behaves as. Values are read, and wrong ones refused, with kube-apiserver's words.
import { UsageError } from '../../base/usage-error.js'
import { BINARY_MINOR, type EffectiveVersion, NOT_EMULATED, printMinor } from '../../meta/effective-version.js'
import type { FlagTable, FlagValues } from './flag.js'
import { list, toggle } from './flag-values.js'

export interface VersionOptions extends EffectiveVersion {
  /** Whether a resource that is served has its newer versions, too, also those that the emulated release lacks. */
  readonly forwardCompatible: boolean
  /** Whether --runtime-config may switch on what the emulated release lacks. */
  readonly configForwardCompatible: boolean
}

export const DEFAULT_VERSIONS: VersionOptions = {
  ...NOT_EMULATED,
  forwardCompatible: false,
  configForwardCompatible: false,
}

/** Three releases back, as kube-apiserver. */
const OLDEST_MINOR = BINARY_MINOR - 3
const RANGE = `${printMinor(OLDEST_MINOR)} to ${printMinor(BINARY_MINOR)}`

export const versionFlags = {
  'emulated-version': list(
    '<version>',
    `the release of Kubernetes to behave as, from ${RANGE}: its APIs, feature gates`,
  ),
  'min-compatibility-version': list(
    '<version>',
    'the oldest release that must be able to read what is stored, by default the one before --emulated-version',
  ),
  'emulation-forward-compatible': toggle(
    'serve newer versions of what is served, also those that --emulated-version lacks',
    false,
  ),
  'runtime-config-emulation-forward-compatible': toggle(
    'let --runtime-config switch on what --emulated-version lacks',
    false,
  ),
} satisfies FlagTable

/** A version as it was given. */
interface Release {
  readonly major: number
  readonly minor: number
}

export function versionsFromFlags(flags: FlagValues<typeof versionFlags>): VersionOptions {
  const emulation = readRelease(flags['emulated-version']) ?? BINARY
  const oldest = readRelease(flags['min-compatibility-version']) ?? releaseBefore(emulation)
  const options = {
    emulation: emulation.minor,
    minCompatibility: oldest.minor,
    forwardCompatible: flags['emulation-forward-compatible'],
    configForwardCompatible: flags['runtime-config-emulation-forward-compatible'],
  }
  refuse([...errorsOfRange(emulation, oldest), ...errorsOfCompatibility(options)])
  return options
}

/** Of an embedding program: `1.34`. */
export const emulating = (version: string): VersionOptions =>
  versionsFromFlags({
    'emulated-version': [version],
    'min-compatibility-version': [],
    'emulation-forward-compatible': false,
    'runtime-config-emulation-forward-compatible': false,
  })

const BINARY: Release = { major: 1, minor: BINARY_MINOR }
const OLDEST: Release = { major: 1, minor: OLDEST_MINOR }

const print = ({ major, minor }: Release): string => `${major}.${minor}`
const isOlder = (a: Release, b: Release): boolean => a.major < b.major || (a.major === b.major && a.minor < b.minor)

function releaseBefore({ major, minor }: Release): Release {
  const before = { major, minor: Math.max(minor - 1, 0) }
  return isOlder(before, OLDEST) ? OLDEST : before
}

/** The last component of a version may be named: `kube=1.34`. There is one component here, which may be given once. */
function readRelease(given: readonly string[]): Release | undefined {
  const releases = given.map(text => {
    const at = text.indexOf('=')
    const component = at === -1 ? 'kube' : text.slice(0, at).trim()
    return { component, release: parseRelease(component, at === -1 ? text : text.slice(at + 1).trim()) }
  })
  const seen = new Map<string, Release>()
  for (const { component, release } of releases) {
    const before = seen.get(component)
    if (before !== undefined) {
      const both = `${component}=${print(before)} and ${component}=${print(release)}`
      throw new UsageError(`duplicate version flag, ${both}`)
    }
    seen.set(component, release)
  }
  const foreign = [...seen.keys()].find(component => component !== 'kube')
  if (foreign !== undefined) throw new UsageError(`component not registered: ${foreign}`)
  return seen.get('kube')
}

function parseRelease(component: string, text: string): Release {
  const numbers = /^\s*v?([0-9]+(?:\.[0-9]+)*)/.exec(text)?.[1]
  if (numbers === undefined) throw new UsageError(`could not parse ${JSON.stringify(text)} as version`)
  const parts = numbers.split('.')
  if (parts.length < 2) throw new UsageError(`illegal version string ${JSON.stringify(text)}`)
  if (/^0[0-9]/.test(parts[0]!)) {
    throw new UsageError(`illegal zero-prefixed version component "${parts[0]}" in ${JSON.stringify(text)}`)
  }
  const [major, minor, patch = 0] = parts.map(Number) as [number, number, number?]
  if (patch !== 0) throw new UsageError(`patch version not allowed, got: ${component}=${numbers}`)
  return { major, minor }
}

function errorsOfRange(emulation: Release, oldest: Release): string[] {
  const isBetween = (release: Release, newest: Release): boolean =>
    !isOlder(release, OLDEST) && !isOlder(newest, release)
  const from = print(OLDEST)
  return [
    ...(isBetween(emulation, BINARY)
      ? []
      : [`emulation version ${print(emulation)} is not between [${from}, ${print(BINARY)}.0]`]),
    ...(isBetween(oldest, emulation)
      ? []
      : [`minCompatibilityVersion version ${print(oldest)} is not between [${from}, ${print(emulation)}]`]),
  ]
}

function errorsOfCompatibility({ emulation, forwardCompatible, configForwardCompatible }: VersionOptions): string[] {
  if (emulation !== BINARY_MINOR) return []
  const why = 'cannot be set to true if the emulation version is the same as the binary version'
  return [
    ...(forwardCompatible ? [`ServerRunOptions.EmulationForwardCompatible ${why}`] : []),
    ...(configForwardCompatible ? [`ServerRunOptions.RuntimeConfigEmulationForwardCompatible ${why}`] : []),
  ]
}

function refuse(errors: readonly string[]): void {
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
}
