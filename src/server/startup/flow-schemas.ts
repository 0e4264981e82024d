// Which flow schema and priority level a request belongs to: the first schema by precedence, then by name, with a rule that
// matches the user and the request. Clients read the UIDs of both from the headers of the response; Flux, for instance,
// limits its own rate if they are missing.

import type { Logger } from '../../base/logger.js'
import type { Classify, FlowUids } from '../../http/handler.js'
import type { Registry } from '../../kinds/registry.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { startKindInformer } from '../../objects/informer.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'
import { requireKind } from './kinds.js'

export interface FlowSchemas {
  readonly classify: Classify
  stop(): void
}

const GROUP = 'flowcontrol.apiserver.k8s.io'

/** Resolves when all schemas and levels are known. */
export async function startFlowSchemas(objects: ObjectStores, registry: Registry, log: Logger): Promise<FlowSchemas> {
  let sorted: readonly CompiledFlow[] | undefined
  const changed = (): void => void (sorted = undefined)
  const [schemas, levels] = await Promise.all([
    startKindInformer(objects, requireKind(registry, GROUP, 'FlowSchema'), compileFlow, changed, log),
    startKindInformer(objects, requireKind(registry, GROUP, 'PriorityLevelConfiguration'), uidOf, changed, log),
  ])

  function inOrder(): readonly CompiledFlow[] {
    return [...schemas.all('')]
      .flatMap(flow => {
        const levelUid = levels.get('', flow.level)
        return levelUid === undefined ? [] : [{ ...flow, uids: { ...flow.uids, priorityLevel: levelUid } }]
      })
      .toSorted((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1))
  }

  return {
    classify: (user, info) => (sorted ??= inOrder()).find(({ matches }) => matches(user, info))?.uids,
    stop() {
      schemas.stop()
      levels.stop()
    },
  }
}

interface CompiledFlow {
  readonly name: string
  readonly precedence: number
  readonly level: string
  readonly uids: FlowUids
  matches(user: UserInfo, info: RequestInfo): boolean
}

const uidOf = ({ metadata }: ApiObject): string => stringAt(metadata, 'uid')

type MatchUser = (user: UserInfo) => boolean
type MatchRequest = (info: RequestInfo) => boolean

export function compileFlow(object: ApiObject): CompiledFlow {
  const spec = objectAt(object, 'spec')
  const rules = objectsAt(spec, 'rules').map(rule => ({
    subjects: objectsAt(rule, 'subjects').map(compileSubject),
    resources: objectsAt(rule, 'resourceRules').map(compileResourceRule),
    paths: objectsAt(rule, 'nonResourceRules').map(compilePathRule),
  }))
  return {
    name: stringAt(object.metadata, 'name'),
    precedence: numberAt(spec, 'matchingPrecedence'),
    level: stringAt(objectAt(spec, 'priorityLevelConfiguration'), 'name'),
    uids: { flowSchema: uidOf(object), priorityLevel: '' },
    matches: (user, info) =>
      rules.some(
        ({ subjects, resources, paths }) =>
          subjects.some(matches => matches(user)) &&
          (info.isResource ? resources : paths).some(matches => matches(info)),
      ),
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
