// Semantic versions: semver('1.2.3-rc.1').

import { failed, type Result } from '../../base/result.js'
import { compareSemver, parseSemver, type Semver } from '../../meta/values/semver.js'
import { CelError } from '../cel-error.js'
import { BOOL, type CelType, INT, objectType, STRING } from '../check/cel-type.js'
import { ONE, STRING_TRAVERSAL, traversal } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library, Overload } from '../environment.js'
import { intOf } from '../values/numbers.js'
import { costSize, OpaqueValue, type Value } from '../values/values.js'

const SEMVER_TYPE = objectType('kubernetes.Semver')

class SemverValue extends OpaqueValue {
  readonly type = SEMVER_TYPE
  constructor(readonly version: Semver) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof SemverValue && compareSemver(this.version, other.version) === 0
  }
}

/** Takes a leading v, missing parts and leading zeros. */
function parseTolerant(text: string): Result<Semver> {
  const bare = text.startsWith('v') ? text.slice(1) : text
  const [major = '', minor, ...rest] = bare.split('.')
  const parts = [major, minor, rest.length === 0 ? undefined : rest.join('.')].filter(part => part !== undefined)
  const stripped = parts.map(part => (part.length > 1 ? part.replace(/^0+(?=[0-9])/, '') : part))
  if (stripped.length < 3) {
    if (/[+-]/.test(stripped.at(-1)!)) return failed('short version cannot contain PreRelease/Build meta data')
    while (stripped.length < 3) stripped.push('0')
  }
  return parseSemver(stripped.join('.'))
}

const version = (value: Value | undefined): Semver => (value as SemverValue).version

/** The text is read once. */
const readCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
  estimate: ({ args: [text] }) => ({ cost: traversal(text!.size) }),
}

const read = (id: string, result: CelType, done: (version: Result<Semver>) => Value): Overload[] => [
  { id, params: [STRING], result, call: text => done(parseSemver(text as string)), ...readCost },
  {
    id: `${id}_bool`,
    params: [STRING, BOOL],
    result,
    call: (text, normalize) => done(normalize === true ? parseTolerant(text as string) : parseSemver(text as string)),
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
      call: (a, b) => answer(compareSemver(version(a), version(b))),
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
