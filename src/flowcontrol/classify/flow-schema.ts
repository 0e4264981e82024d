// A FlowSchema as it is matched against requests: by precedence, then by name, the first with a rule for the user and the
// request.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'

export interface CompiledSchema {
  readonly name: string
  readonly uid: string
  readonly precedence: number
  /** The name of the priority level. */
  readonly level: string
  /** What tells the flows of the schema apart. */
  distinguisher(user: UserInfo, info: RequestInfo): string
  matches(user: UserInfo, info: RequestInfo): boolean
}

type MatchUser = (user: UserInfo) => boolean
type MatchRequest = (info: RequestInfo) => boolean

export function compileSchema(object: ApiObject): CompiledSchema {
  const spec = objectAt(object, 'spec')
  const rules = objectsAt(spec, 'rules').map(rule => ({
    subjects: objectsAt(rule, 'subjects').map(compileSubject),
    resources: objectsAt(rule, 'resourceRules').map(compileResourceRule),
    paths: objectsAt(rule, 'nonResourceRules').map(compilePathRule),
  }))
  const { name = '', uid = '' } = metaOf(object)
  return {
    name,
    uid,
    precedence: numberAt(spec, 'matchingPrecedence'),
    level: stringAt(objectAt(spec, 'priorityLevelConfiguration'), 'name'),
    distinguisher: distinguisherOf(stringAt(objectAt(spec, 'distinguisherMethod'), 'type')),
    matches: (user, info) =>
      rules.some(
        ({ subjects, resources, paths }) =>
          subjects.some(matches => matches(user)) &&
          (info.isResource ? resources : paths).some(matches => matches(info)),
      ),
  }
}

export const byPrecedence = (a: CompiledSchema, b: CompiledSchema): number =>
  a.precedence - b.precedence || (a.name < b.name ? -1 : 1)

function distinguisherOf(method: string): CompiledSchema['distinguisher'] {
  switch (method) {
    case 'ByUser':
      return ({ name }) => name
    case 'ByNamespace':
      return (_, { namespace }) => namespace
    default:
      return () => ''
  }
}

function compileSubject(subject: ValueObject): MatchUser {
  switch (stringAt(subject, 'kind')) {
    case 'User': {
      const name = stringAt(objectAt(subject, 'user'), 'name')
      return user => name === '*' || name === user.name
    }
    case 'Group': {
      const name = stringAt(objectAt(subject, 'group'), 'name')
      return user => name === '*' || user.groups.includes(name)
    }
    case 'ServiceAccount': {
      const account = objectAt(subject, 'serviceAccount')
      const prefix = `system:serviceaccount:${stringAt(account, 'namespace')}:`
      const name = stringAt(account, 'name')
      return name === '*' ? user => user.name.startsWith(prefix) : user => user.name === prefix + name
    }
    default:
      return () => false
  }
}

function compileResourceRule(rule: ValueObject): MatchRequest {
  const hasVerb = matcherOf(stringsAt(rule, 'verbs'))
  const hasGroup = matcherOf(stringsAt(rule, 'apiGroups'))
  const hasResource = matcherOf(stringsAt(rule, 'resources'))
  const hasNamespace = matcherOf(stringsAt(rule, 'namespaces'))
  const clusterScope = rule['clusterScope'] === true
  return ({ verb, group, resource, subresource, namespace }) =>
    hasVerb(verb) &&
    hasResource(subresource === '' ? resource : `${resource}/${subresource}`) &&
    hasGroup(group) &&
    (namespace === '' ? clusterScope : hasNamespace(namespace))
}

function compilePathRule(rule: ValueObject): MatchRequest {
  const hasVerb = matcherOf(stringsAt(rule, 'verbs'))
  const urls = stringsAt(rule, 'nonResourceURLs')
  const prefixes = urls.map(url => url.replace(/\*$/, '').replace(/([^/]|^)$/, '$1/'))
  return ({ verb, path }) =>
    hasVerb(verb) && (urls.some(url => url === '*' || url === path) || prefixes.some(prefix => path.startsWith(prefix)))
}

const matcherOf = (list: readonly string[]): ((text: string) => boolean) =>
  list.length === 1 && list[0] === '*' ? () => true : text => list.includes(text)
