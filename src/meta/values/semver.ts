// Semantic versions: how they are read, with Go's messages, and compared.
import { failed, parsed, type Result } from '../../base/result.js'
import { quote } from '../go/go-text.js'

export interface Semver {
  readonly numbers: readonly [bigint, bigint, bigint]
  /** Parts that are numbers as bigints. What follows a plus does not count in comparisons. */
  readonly prerelease: readonly (string | bigint)[]
}

const NAMES = ['Major', 'Minor', 'Patch'] as const

export function parseSemver(text: string): Result<Semver> {
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

export function compareSemver(a: Semver, b: Semver): number {
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
