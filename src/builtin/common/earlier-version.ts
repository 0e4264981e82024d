// Versions of a kind before its newest one. kube-apiserver deprecates each in some minor version and removes it three later.
import { groupOf } from '../../types/typed-body.js'
import { strategyOf } from './build-kind.js'
import type { KindDefinition } from './define-kind.js'

export interface Deprecation {
  /** The minor version of Kubernetes from which the version is deprecated. */
  readonly since: number
  /** The version that the warning recommends, if it recommends one. */
  readonly use?: string
}

const MINORS_UNTIL_REMOVAL = 3

export function deprecationWarning(apiVersion: string, kind: string, { since, use }: Deprecation): string {
  const recommended = use === undefined ? '' : `; use ${groupOf(apiVersion)}/${use} ${kind}`
  const removed = since + MINORS_UNTIL_REMOVAL
  return `${apiVersion} ${kind} is deprecated in v1.${since}+, unavailable in v1.${removed}+${recommended}`
}

/** A version that differs from a later one only in its name and in the warning that it is deprecated. */
export function earlierVersion(later: KindDefinition, version: string, deprecation: Deprecation): KindDefinition {
  const apiVersion = `${groupOf(later.apiVersion)}/${version}`
  const warning = deprecationWarning(apiVersion, later.kind, deprecation)
  return {
    ...later,
    apiVersion,
    strategy: table => ({ ...strategyOf(table, later), deprecationWarning: warning }),
  }
}
