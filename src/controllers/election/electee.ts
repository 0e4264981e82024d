// Which of several LeaseCandidates is to hold a Lease: the strategy that they agree on, and the best of them by it.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { compareSemver, parseSemver, type Semver } from '../../meta/values/semver.js'

/** The one strategy that is carried out here; holders of others are chosen by others. */
export const OLDEST_EMULATION = 'OldestEmulationVersion'

export interface Candidate {
  readonly name: string
  readonly namespace: string
  readonly leaseName: string
  readonly strategy: string
  /** Undefined if it cannot be read. */
  readonly binaryVersion: Semver | undefined
  readonly emulationVersion: Semver | undefined
  readonly createdAt: number
  /** When it last answered; NaN if never. */
  readonly renewedAt: number
  /** When it was last asked; NaN if never. */
  readonly askedAt: number
}

export function candidateOf(object: ApiObject): Candidate {
  const { name = '', namespace = '', creationTimestamp = '' } = metaOf(object)
  const spec = objectAt(object, 'spec')
  const version = (field: string): Semver | undefined => {
    const read = parseSemver(stringAt(spec, field))
    return read.ok ? read.value : undefined
  }
  return {
    name,
    namespace,
    leaseName: stringAt(spec, 'leaseName'),
    strategy: stringAt(spec, 'strategy'),
    binaryVersion: version('binaryVersion'),
    emulationVersion: version('emulationVersion'),
    createdAt: Date.parse(creationTimestamp),
    renewedAt: Date.parse(stringAt(spec, 'renewTime')),
    askedAt: Date.parse(stringAt(spec, 'pingTime')),
  }
}

const ZERO: Semver = { numbers: [0n, 0n, 0n], prerelease: [] }

/** That of the newest programs; undefined if they do not agree. */
export function strategyOf(candidates: readonly Candidate[]): string | undefined {
  const versions = candidates.map(({ binaryVersion = ZERO }) => binaryVersion)
  const newest = versions.reduce((a, b) => (compareSemver(a, b) < 0 ? b : a))
  const strategies = new Set(
    candidates.filter((_, i) => compareSemver(versions[i]!, newest) === 0).map(({ strategy }) => strategy),
  )
  return strategies.size === 1 ? [...strategies][0] : undefined
}

/** The one that behaves as the oldest release, and of these the oldest program, and of these the oldest object. */
export const oldestOf = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates
    .filter(({ binaryVersion, emulationVersion }) => binaryVersion && emulationVersion)
    .toSorted(
      (a, b) =>
        compareSemver(a.emulationVersion!, b.emulationVersion!) ||
        compareSemver(a.binaryVersion!, b.binaryVersion!) ||
        a.createdAt - b.createdAt,
    )[0]
