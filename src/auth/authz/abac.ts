// Attribute-based access control (--authorization-policy-file): a file with a policy in JSON on each line. A request is
// allowed if one of the policies matches it.
import { decodeJson } from '../../codec/json.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import type { UserInfo } from '../../request/user-info.js'
import { AUTHENTICATED } from '../authn/system-groups.js'
import { ALLOWED, type Authorizer, createAuthorizer, type Decision } from './authorizer.js'
import type { PolicyRule } from './rbac.js'
import type { RuleResolver } from './rule-resolver.js'

export interface AbacPolicy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

/** Throws an Error that names the line. */
export function parsePolicyFile(text: string, path: string): AbacPolicy[] {
  const policies: AbacPolicy[] = []
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim()
    if (content === '' || content.startsWith('#')) continue
    try {
      policies.push(readPolicy(content))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`error reading policy file ${path}, line ${i + 1}: ${line}: ${why}`, { cause: error })
    }
  }
  return policies
}

const VERSION = /^abac\.authorization\.kubernetes\.io\//

function readPolicy(line: string): AbacPolicy {
  const { value } = decodeJson(Buffer.from(line))
  if (!isObject(value)) throw new Error('a policy must be an object')
  const apiVersion = stringAt(value, 'apiVersion')
  if (!VERSION.test(apiVersion) || stringAt(value, 'kind') === '') return oldPolicy(value)
  if (apiVersion.endsWith('/v0')) return oldPolicy(value)
  if (!apiVersion.endsWith('/v1beta1') || stringAt(value, 'kind') !== 'Policy') {
    throw new Error(`no kind "${stringAt(value, 'kind')}" is registered for version "${apiVersion}"`)
  }
  const spec = objectAt(value, 'spec')
  return forAuthenticated({ ...fieldsOf(spec), readonly: spec['readonly'] === true })
}

/** `*` stands for every user that is authenticated, not for anonymous requests. */
const forAuthenticated = (policy: AbacPolicy): AbacPolicy =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: AUTHENTICATED } : policy

/** Policies without a version are for every API group, and an empty field is a wildcard. */
function oldPolicy(policy: ValueObject): AbacPolicy {
  const { user, group, resource, namespace } = fieldsOf(policy)
  return forAuthenticated({
    user: user === '' && group === '' ? '*' : user,
    group,
    readonly: policy['readonly'] === true,
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    namespace: namespace === '' ? '*' : namespace,
    // One for everything in the API is also for its other paths.
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  })
}

const fieldsOf = (policy: ValueObject): Omit<AbacPolicy, 'readonly'> => ({
  user: stringAt(policy, 'user'),
  group: stringAt(policy, 'group'),
  apiGroup: stringAt(policy, 'apiGroup'),
  resource: stringAt(policy, 'resource'),
  namespace: stringAt(policy, 'namespace'),
  nonResourcePath: stringAt(policy, 'nonResourcePath'),
})

const UNMATCHED: Decision = { allowed: false, reason: 'No policy matched.' }

export const createAbacAuthorizer = (policies: readonly AbacPolicy[]): Authorizer =>
  createAuthorizer((user, attributes) =>
    policies.some(policy => matches(policy, user, attributes)) ? ALLOWED : UNMATCHED,
  )

const READING = new Set(['get', 'list', 'watch'])

const matches = (policy: AbacPolicy, user: UserInfo, attributes: AccessAttributes): boolean =>
  matchesSubject(policy, user) &&
  (!policy.readonly || READING.has(attributes.verb)) &&
  ('path' in attributes
    ? matchesPath(policy.nonResourcePath, attributes.path)
    : covers(policy.namespace, attributes.namespace) &&
      covers(policy.resource, attributes.resource) &&
      covers(policy.apiGroup, attributes.group))

const covers = (pattern: string, value: string): boolean => pattern === '*' || pattern === value

/** A policy without user and group is for no one. */
function matchesSubject({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === name) && (group === '' || groups.includes(group))
}

const matchesPath = (pattern: string, path: string): boolean =>
  covers(pattern, path) || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')))

export const abacRules = (policies: readonly AbacPolicy[]): Pick<RuleResolver, 'rulesFor'> => ({
  rulesFor(user, namespace) {
    const rules: PolicyRule[] = []
    for (const policy of policies) {
      const { readonly, apiGroup, resource, nonResourcePath } = policy
      if (!matchesSubject(policy, user) || !covers(policy.namespace, namespace)) continue
      const verbs = readonly ? [...READING] : ['*']
      if (resource !== '') rules.push({ verbs, apiGroups: [apiGroup], resources: [resource] })
      if (nonResourcePath !== '') rules.push({ verbs, nonResourceURLs: [nonResourcePath] })
    }
    return { error: '', rules }
  },
})
