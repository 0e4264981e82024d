// The audit policy (audit.k8s.io/v1): which requests are recorded, and how much of them. The first rule that matches counts.
import { UsageError } from '../../base/usage-error.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml } from '../../codec/yaml.js'
import { has, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'

/** From nothing to everything; `Request` adds the object of the client to the metadata, `RequestResponse` the response. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof LEVELS)[number]

export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof STAGES)[number]

/** How a request is recorded. */
export interface AuditConfig {
  readonly level: AuditLevel
  readonly omitStages: readonly string[]
  readonly omitManagedFields: boolean
}

export interface AuditPolicy {
  /** The user is undefined for a request that was not authenticated. */
  evaluate(info: RequestInfo, user: UserInfo | undefined): AuditConfig
}

/** Throws a UsageError for what is no policy. */
export function parseAuditPolicy(bytes: Buffer): AuditPolicy {
  const policy = readPolicy(bytes)
  const everywhere = stringsAt(policy, 'omitStages')
  const omitManagedFields = policy['omitManagedFields'] === true
  const rules = objectsAt(policy, 'rules').map((rule, i) => ({
    matches: compileRule(rule),
    config: {
      level: checkRule(rule, `rules[${i}]`),
      omitStages: [...everywhere, ...stringsAt(rule, 'omitStages')],
      omitManagedFields: has(rule, 'omitManagedFields') ? rule['omitManagedFields'] === true : omitManagedFields,
    },
  }))
  if (rules.length === 0) throw new UsageError('the audit policy has no rules')
  const unmatched: AuditConfig = { level: 'None', omitStages: everywhere, omitManagedFields }
  return {
    evaluate: (info, user) => rules.find(({ matches }) => matches(info, user))?.config ?? unmatched,
  }
}

function readPolicy(bytes: Buffer): ValueObject {
  try {
    const { value } = decodeYaml(bytes)
    if (isObject(value) && value['apiVersion'] === 'audit.k8s.io/v1' && value['kind'] === 'Policy') {
      checkNames(stringsAt(value, 'omitStages'), STAGES, 'omitStages')
      return value
    }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new UsageError(`the audit policy cannot be read: ${error.message}`)
  }
  throw new UsageError('the audit policy must be a Policy of audit.k8s.io/v1')
}

function checkNames(names: readonly string[], known: readonly string[], at: string): void {
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`the audit policy: ${at}: ${JSON.stringify(unknown)} is not one of ${known.join(', ')}`)
  }
}

function checkRule(rule: ValueObject, at: string): AuditLevel {
  checkNames([stringAt(rule, 'level')], LEVELS, `${at}.level`)
  checkNames(stringsAt(rule, 'omitStages'), STAGES, `${at}.omitStages`)
  if (stringsAt(rule, 'nonResourceURLs').length > 0 && (has(rule, 'resources') || has(rule, 'namespaces'))) {
    throw new UsageError(
      `the audit policy: ${at}: a rule is either for nonResourceURLs or for resources and namespaces`,
    )
  }
  for (const url of stringsAt(rule, 'nonResourceURLs')) {
    if (url === '*' || /^\/[^*]*\*?$/.test(url)) continue
    throw new UsageError(
      `the audit policy: ${at}.nonResourceURLs: ${JSON.stringify(url)} is neither "*" nor a path that may end with "*"`,
    )
  }
  return stringAt(rule, 'level') as AuditLevel
}

type Matches = (info: RequestInfo, user: UserInfo | undefined) => boolean

function compileRule(rule: ValueObject): Matches {
  const [users, groups, verbs, namespaces, urls] = [
    'users',
    'userGroups',
    'verbs',
    'namespaces',
    'nonResourceURLs',
  ].map(name => stringsAt(rule, name)) as [
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
  ]
  const resources = objectsAt(rule, 'resources').map(compileResource)
  return (info, user) => {
    if (users.length > 0 && !(user && users.includes(user.name))) return false
    if (groups.length > 0 && !user?.groups.some(group => groups.includes(group))) return false
    if (verbs.length > 0 && !verbs.includes(info.verb)) return false
    if (namespaces.length > 0 || resources.length > 0) {
      // Resources without a namespace have the empty one.
      const isThere = namespaces.length === 0 || namespaces.includes(info.namespace)
      return info.isResource && isThere && (resources.length === 0 || resources.some(matches => matches(info)))
    }
    return urls.length === 0 || (!info.isResource && urls.some(url => matchesUrl(url, info.path)))
  }
}

const matchesUrl = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern

/** `pods`, `pods/log`, `pods/*`, `*\/status` or `*`. */
function compileResource(of: ValueObject): (info: RequestInfo) => boolean {
  const group = stringAt(of, 'group')
  const [resources, names] = [stringsAt(of, 'resources'), stringsAt(of, 'resourceNames')]
  return ({ group: given, resource, subresource, name }) => {
    if (given !== group && group !== '*') return false
    if (resources.length === 0) return true
    if (names.length > 0 && !names.includes(name)) return false
    const whole = subresource === '' ? resource : `${resource}/${subresource}`
    const patterns = new Set([whole, '*', `${resource}/*`])
    if (subresource !== '') patterns.add(`*/${subresource}`)
    return resources.some(pattern => patterns.has(pattern))
  }
}
