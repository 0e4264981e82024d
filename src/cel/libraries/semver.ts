// Semantic versions: semver('1.2.3-rc.1').

import { failed, parsed, type Result } from '../../base/result.js'
import { quote } from '../../meta/go/go-text.js'
import { CelError } from '../cel-error.js'
import { BOOL, type CelType, INT, objectType, STRING } from '../check/cel-type.js'
import { ONE, STRING_TRAVERSAL, traversal } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library, Overload } from '../environment.js'
import { intOf } from '../values/numbers.js'
import { costSize, OpaqueValue, type Value } from '../values/values.js'

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  /** Parts that are numbers as bigints. What follows a plus does not count in comparisons. */
  readonly prerelease: readonly (string | bigint)[]
}

const SEMVER_TYPE = objectType('kubernetes.Semver')

class SemverValue extends OpaqueValue {
  readonly type = SEMVER_TYPE
  constructor(readonly version: Version) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof SemverValue && compareVersions(this.version, other.version) === 0
  }
}

const NAMES = ['Major', 'Minor', 'Patch'] as const

function parseVersion(text: string): Result<Version> {
  if (text === '') return failed('Version string empty')
  const parts = text.split('.')
  if (parts.length < 3) return failed('No Major.Minor.Patch elements found')
  const last = parts.slice(2).join('.')
  const [patchAndPrerelease = '', ...builds] = last.split('+')
  const dash = patchAndPrerelease.indexOf('-')
  const patch = dash < 0 ? patchAndPrerelease : patchAndPrerelease.slice(0, dash)
  const numbers: bigint[] = []
  for (const [i, part] of [parts[0]!, parts[1]!, patch].entries()) {
    const name = NAMES[i]!
    if (!/^[0-9]+$/.test(part))
      return failed(`Invalid character(s) found in ${name.toLowerCase()} number ${quote(part)}`)
    if (part.length > 1 && part.startsWith('0'))
      return failed(`${name} number must not contain leading zeroes ${quote(part)}`)
    const value = BigInt(part.slice(0, 30))
    if (value > 2n ** 64n - 1n) return failed(`strconv.ParseUint: parsing ${quote(part)}: value out of range`)
    numbers.push(value)
  }
  const prerelease: (string | bigint)[] = []
  if (dash >= 0) {
    for (const part of patchAndPrerelease.slice(dash + 1).split('.')) {
      if (part === '') return failed('Prerelease is empty')
      if (!/^[0-9A-Za-z-]+$/.test(part)) return failed(`Invalid character(s) found in prerelease ${quote(part)}`)
      if (/^[0-9]+$/.test(part)) {
        if (part.length > 1 && part.startsWith('0')) {
          return failed(`Numeric PreRelease version must not contain leading zeroes ${quote(part)}`)
        }
        prerelease.push(BigInt(part.slice(0, 30)))
      } else prerelease.push(part)
    }
  }
  for (const part of builds.length === 0 ? [] : builds.join('+').split('.')) {
    if (part === '') return failed('Build meta data is empty')
    if (!/^[0-9A-Za-z-]+$/.test(part)) return failed(`Invalid character(s) found in build meta data ${quote(part)}`)
  }
  return parsed({ numbers: numbers as [bigint, bigint, bigint], prerelease })
}

/** Takes a leading v, missing parts and leading zeros. */
function parseTolerant(text: string): Result<Version> {
  const bare = text.startsWith('v') ? text.slice(1) : text
  const [major = '', minor, ...rest] = bare.split('.')
  const parts = [major, minor, rest.length === 0 ? undefined : rest.join('.')].filter(part => part !== undefined)
  const stripped = parts.map(part => (part.length > 1 ? part.replace(/^0+(?=[0-9])/, '') : part))
  if (stripped.length < 3) {
    if (/[+-]/.test(stripped.at(-1)!)) return failed('short version cannot contain PreRelease/Build meta data')
    while (stripped.length < 3) stripped.push('0')
  }
  return parseVersion(stripped.join('.'))
}

function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const x = a.numbers[i]!
    const y = b.numbers[i]!
    if (x !== y) return x < y ? -1 : 1
  }
  // A version comes after all its prereleases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length)
  }
  for (let i = 0; i < Math.max(a.prerelease.length, b.prerelease.length); i++) {
    const x = a.prerelease[i]
    const y = b.prerelease[i]
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    if (typeof x !== typeof y) return typeof x === 'bigint' ? -1 : 1
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

const version = (value: Value | undefined): Version => (value as SemverValue).version

/** The text is read once. */
const readCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
  estimate: ({ args: [text] }) => ({ cost: traversal(text!.size) }),
}

const read = (id: string, result: CelType, done: (version: Result<Version>) => Value): Overload[] => [
  { id, params: [STRING], result, call: text => done(parseVersion(text as string)), ...readCost },
  {
    id: `${id}_bool`,
    params: [STRING, BOOL],
    result,
    call: (text, normalize) => done(normalize === true ? parseTolerant(text as string) : parseVersion(text as string)),
    ...readCost,
  },
]

const compare = (name: string, id: string, result: CelType, answer: (order: number) => Value): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id,
      member: true,
      params: [SEMVER_TYPE, SEMVER_TYPE],
      result,
      call: (a, b) => answer(compareVersions(version(a), version(b))),
    },
  ],
})

const part = (name: string, index: 0 | 1 | 2): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id: `semver_${name}`,
      member: true,
      params: [SEMVER_TYPE],
      result: INT,
      call: value => intOf(version(value).numbers[index]),
    },
  ],
})

export const SEMVER_LIBRARY: Library = {
  equalityCosts: { [SEMVER_TYPE.name]: () => ONE },
  functions: [
    {
      name: 'semver',
      overloads: read('string_to_semver', SEMVER_TYPE, result =>
        result.ok ? new SemverValue(result.value) : new CelError(result.error),
      ),
    },
    { name: 'isSemver', overloads: read('is_semver_string', BOOL, ({ ok }) => ok) },
    compare('isGreaterThan', 'semver_is_greater_than', BOOL, order => order > 0),
    compare('isLessThan', 'semver_is_less_than', BOOL, order => order < 0),
    compare('compareTo', 'semver_compare_to', INT, order => order),
    part('major', 0),
    part('minor', 1),
    part('patch', 2),
  ],
}
