// What a program writes: a function with the requests that it is for, and what it is called with.

import type { Awaitable } from '../../base/awaitable.js'
import type { GroupVersionKind, GroupVersionResource } from '../../meta/group-version.js'

/** An object of the API. Any type with these members can take its place: `AdmissionFunction<V1Pod>`. */
export interface AdmissionObject {
  apiVersion?: string
  kind?: string
  metadata?: object
}

/** An object whose type is not known. */
// oxlint-disable-next-line typescript/no-explicit-any -- a program knows what its objects are
export type AnyObject = AdmissionObject & Record<string, any>

/** The matching is that of a webhook, with the same names, defaults and meaning. */
export interface AdmissionFunction<T extends AdmissionObject = AnyObject> {
  /** In messages and in `server.admission.calls`. */
  readonly name: string
  readonly rules: readonly AdmissionRule[]
  /** `Equivalent`, the default: also requests in another version of a resource; the function gets the version it asked for. */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: AdmissionSelector
  readonly objectSelector?: AdmissionSelector
  /** Expressions of CEL, which must all be true. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  /** What follows when the function throws or takes too long: `Fail`, the default, refuses the request. */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** How long a promise of the function is waited for, from 1 to 30. The default is 10. */
  readonly timeoutSeconds?: number
  /**
   * Changes the object: what it returns takes its place or, if it returns nothing, `request.object` with the changes that
   * were made to it. Called again after a webhook has changed the object. Throws an AdmissionDenial to refuse.
   */
  mutate?(request: AdmissionRequest<T>): Awaitable<T | undefined | void>
  /** Throws an AdmissionDenial to refuse the request. */
  validate?(request: AdmissionRequest<T>): Awaitable<void>
}

export interface AdmissionRule {
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | '*')[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  /** `pods`, `pods/status`, `pods/*`, `*` or all with their subresources: `*` and a slash and `*`. */
  readonly resources: readonly string[]
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

export interface AdmissionSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
    readonly values?: readonly string[]
  }[]
}

/** The request of an AdmissionReview. Objects are copies. Integers beyond 2^53 are bigints. */
export interface AdmissionRequest<T extends AdmissionObject = AnyObject> {
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  readonly requestKind: GroupVersionKind
  readonly requestResource: GroupVersionResource
  readonly requestSubResource?: string
  /** Absent before a name is generated. */
  readonly name?: string
  /** Absent at the cluster scope. */
  readonly namespace?: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly userInfo: AdmissionUserInfo
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions or DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>> | null
  /** Null on DELETE. */
  readonly object: T | null
  /** Null on CREATE and CONNECT. */
  readonly oldObject: T | null
  /** Adds a `Warning` header to the response. */
  warn(text: string): void
}

export interface AdmissionUserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
