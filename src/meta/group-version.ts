// Group, version, kind and resource: their formats, and the priority of the versions of a group.

import { failed, parsed, type Result } from '../base/result.js'
import { compareTexts, parseInt64 } from './go/go-text.js'

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupVersionKind extends GroupVersion, GroupKind {}
export interface GroupVersionResource extends GroupVersion, GroupResource {}

/** Parses an `apiVersion`: `v1`, `apps/v1`. An empty one is the empty group and version. */
export function parseGroupVersion(apiVersion: string): Result<GroupVersion> {
  if (apiVersion === '' || apiVersion === '/') return parsed({ group: '', version: '' })
  const slash = apiVersion.indexOf('/')
  if (slash === -1) return parsed({ group: '', version: apiVersion })
  if (apiVersion.includes('/', slash + 1)) return failed(`unexpected GroupVersion string: ${apiVersion}`)
  return parsed({ group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) })
}

/** The kind of an `apiVersion` and a `kind`; if the apiVersion is malformed, group and version are empty. */
export function groupVersionKind(apiVersion: string, kind: string): GroupVersionKind {
  const read = parseGroupVersion(apiVersion)
  const { group, version } = read.ok ? read.value : NO_VERSION
  return { group, version, kind }
}

const NO_VERSION: GroupVersion = { group: '', version: '' }

/** The `apiVersion` of a group and version. */
export const printGroupVersion = ({ group, version }: GroupVersion): string =>
  group === '' ? version : `${group}/${version}`

/** Clients may write the empty group of the core API: `/v1` is `v1`. */
export const normalApiVersion = (apiVersion: string): string =>
  apiVersion.startsWith('/') ? apiVersion.slice(1) : apiVersion

/** The format of a kind in messages: `apps/v1, Kind=Deployment`, `/v1, Kind=Event`. */
export const printGroupVersionKind = ({ group, version, kind }: GroupVersionKind): string =>
  `${group}/${version}, Kind=${kind}`

/** The format of a resource in messages: `apps/v1, Resource=deployments`. */
export const printGroupVersionResource = ({ group, version, resource }: GroupVersionResource): string =>
  `${group}/${version}, Resource=${resource}`

/** `deployments.apps`; without the dot in the core group. */
export const printGroupResource = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`

/** `Deployment.apps`; without the dot in the core group. */
export const printGroupKind = ({ group, kind }: GroupKind): string => (group === '' ? kind : `${kind}.${group}`)

/** Parses `deployments.apps`: the group is everything after the first dot. */
export function parseGroupResource(text: string): GroupResource {
  const dot = text.indexOf('.')
  return dot === -1 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) }
}

/**
 * Sorts versions, the preferred one first: GA before beta before alpha, each by number downwards (v10, v2, v1,
 * v2beta1, v1beta2, v1alpha1), then all other names in alphabetical order.
 */
export function compareVersions(a: string, b: string): number {
  const x = readVersion(a)
  const y = readVersion(b)
  if (x === undefined || y === undefined) {
    return x === undefined && y === undefined ? compareTexts(a, b) : x === undefined ? 1 : -1
  }
  return (
    STAGES.indexOf(x.stage) - STAGES.indexOf(y.stage) ||
    compareNumbers(y.major, x.major) ||
    compareNumbers(y.minor, x.minor) ||
    compareTexts(a, b) // v1 and v01
  )
}

/** True for versions like v1, v1beta1 or v1alpha1. */
export const isKubernetesVersion = (version: string): boolean => readVersion(version) !== undefined

interface ReadVersion {
  readonly major: bigint
  readonly stage: string
  readonly minor: bigint
}

const STAGES = ['', 'beta', 'alpha']

function readVersion(version: string): ReadVersion | undefined {
  const parts = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/.exec(version)
  if (parts === null) return undefined
  const [, major = '', stage = '', minor = '0'] = parts
  // Numbers beyond int64 do not count as versions.
  if (!parseInt64(major).ok || !parseInt64(minor).ok) return undefined
  return { major: BigInt(major), stage, minor: BigInt(minor) }
}

const compareNumbers = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
