// Finds the kind, verb and target of a request. A path that leads nowhere is answered with a Status in built-in groups,
// and with a plain 404 page elsewhere.

import type { IncomingHttpHeaders } from 'node:http'
import type { Kind } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import type { Registry, VersionedKind } from '../../kinds/registry.js'
import { verbsOfSubresource } from '../../kinds/subresources.js'
import { badRequest, genericResponse, methodNotSupported, notFound } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { checkPathSegment } from '../../meta/object/names.js'
import { parseFieldSelector, requiredField } from '../../meta/selectors/field-selectors.js'
import type { UnstoredResource } from '../../request/connect-resource.js'
import type { Request } from '../../request/request.js'
import type { RequestInfo } from '../../request/request-info.js'
import { type Target } from '../../request/target.js'
import { patchTypesOf } from '../../verbs/write.js'
import {
  checkRouteAccepts,
  checkRouteConsumes,
  type Offer,
  spokenTypes,
  TYPED_OBJECTS,
  UNTYPED_OBJECTS,
  VIRTUAL_OBJECTS,
} from '../negotiation/negotiation.js'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export interface Route {
  readonly verb: Verb
  readonly target: Target
  readonly query: URLSearchParams
  readonly offer: Offer
}

export type RoutedRequest = Pick<Request, 'info' | 'warn'>

export interface Router {
  /** Undefined for a plain 404 page. Throws a StatusError if the path or method is refused. */
  route(method: string, headers: IncomingHttpHeaders, request: RoutedRequest): Route | undefined
  /** Whether unknown paths of this group are answered with a Status. */
  isBuiltinGroup(info: RequestInfo): boolean
}

export function createRouter(
  registry: Registry,
  virtualResources: readonly UnstoredResource[] = [],
  cbor = true,
): Router {
  const virtualGroups = virtualResources.map(({ apiVersion }) => apiVersion.split('/', 1)[0]!)
  let builtinGroups = new Set<string>()
  let countedAt = -1

  function isBuiltinGroup({ prefix, group }: RequestInfo): boolean {
    if (prefix === 'api') return true
    if (countedAt !== registry.generation) {
      countedAt = registry.generation
      const kinds = [...registry.all()].filter(kind => !isCustom(kind))
      builtinGroups = new Set([...virtualGroups, ...kinds.map(kind => kind.group)])
    }
    return prefix === 'apis' && group !== '' && builtinGroups.has(group)
  }

  return {
    isBuiltinGroup,
    route(method, headers, request) {
      const { info } = request
      const served = registry.find(info.group, info.version, info.resource)
      // Paths that begin with two slashes are never served.
      if (!served || info.path.startsWith('//') || (info.group === '') !== (info.prefix === 'api')) return undefined
      return isCustom(served.kind) ? customRoute(served, request) : builtinRoute(served, method, headers, info, cbor)
    },
  }
}

const isCustom = ({ traits }: Kind): boolean => traits.lenientRouting

const VERBS = new Set<string>(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'])
const ACROSS_NAMESPACES = new Set<string>(['list', 'watch'])

/** Custom resources accept every method on every path; verbs that they do not have are refused afterwards. */
function customRoute(served: VersionedKind, request: RoutedRequest): Route | undefined {
  const { kind } = served
  const { info } = request
  const inNamespace = info.namespace !== ''
  if (inNamespace && !kind.namespaced) return undefined
  if (!inNamespace && kind.namespaced && !ACROSS_NAMESPACES.has(info.verb)) return undefined
  const subresource = subresourceOf(served, info.subresource)
  if (subresource === undefined) {
    const { deprecationWarning } = served.version
    if (deprecationWarning) request.warn(deprecationWarning)
    throw notFound(resourceOf(kind), info.name)
  }
  if (
    subresource === '' ? !VERBS.has(info.verb) : !verbsOfSubresource(served.version, subresource).includes(info.verb)
  ) {
    throw methodNotSupported(resourceOf(kind), info.verb)
  }
  // A POST to the path of an object creates in its collection.
  const name = info.verb === 'create' ? '' : info.name
  return routeTo(served, info, info.namespace, name, subresource)
}

function builtinRoute(
  served: VersionedKind,
  method: string,
  headers: IncomingHttpHeaders,
  info: RequestInfo,
  cbor: boolean,
): Route {
  // The path of a namespace names it, but it is not inside a namespace.
  const namespace = info.isInNamespace ? info.namespace : ''
  const subresource = subresourceOf(served, info.subresource)
  const isList = info.verb === 'list' || info.verb === 'watch'
  const inPath = isList && !info.isOldWatch ? '' : info.name
  const methods =
    subresource === undefined || info.rest.length > 0 ? [] : methodsOf(served, info, namespace, inPath, subresource)
  if (methods.length === 0) throw genericResponse(404)
  if (!methods.includes(method)) throw genericResponse(405)
  if (method === 'PATCH') checkRouteConsumes(headers, spokenTypes(patchTypesOf(served), cbor))
  checkRouteAccepts(headers, TYPED_OBJECTS.encodings, isList, cbor)
  return routeTo(served, info, namespace, info.name, subresource!)
}

/** The methods of the path; none if there is no such path. */
function methodsOf(
  { kind, version }: VersionedKind,
  info: RequestInfo,
  namespace: string,
  name: string,
  subresource: string,
): readonly string[] {
  if (kind.namespaced ? namespace === '' && name !== '' : info.isInNamespace) return []
  const methods = methodsByPath(kind)
  if (info.isOldWatch) return subresource === '' ? methods.oldWatch : []
  if (subresource !== '') return name === '' ? [] : verbsOfSubresource(version, subresource).map(verb => METHODS[verb]!)
  if (name !== '') return methods.object
  return kind.namespaced && namespace === '' ? methods.everywhere : methods.collection
}

/** The methods of the paths of a kind, by its verbs. */
interface Methods {
  readonly object: readonly string[]
  readonly collection: readonly string[]
  /** The collection across all namespaces. */
  readonly everywhere: readonly string[]
  readonly oldWatch: readonly string[]
}

const METHODS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

const knownMethods = new WeakMap<Kind, Methods>()

function methodsByPath(kind: Kind): Methods {
  let methods = knownMethods.get(kind)
  if (!methods) {
    const of = (...verbs: readonly string[]): string[] =>
      verbs.flatMap(verb => (kind.verbs.includes(verb) ? [METHODS[verb]!] : []))
    methods = {
      object: of('get', 'update', 'patch', 'delete'),
      collection: of('list', 'create', 'deletecollection'),
      everywhere: of('list'),
      oldWatch: of('watch'),
    }
    knownMethods.set(kind, methods)
  }
  return methods
}

function subresourceOf({ version }: VersionedKind, name: string): string | undefined {
  return name === '' || verbsOfSubresource(version, name).length > 0 ? name : undefined
}

function routeTo(
  served: VersionedKind,
  info: RequestInfo,
  namespace: string,
  name: string,
  subresource: string,
): Route {
  const verb = info.verb as Verb
  const isCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection' || verb === 'create'
  const { kind, version } = served
  const target: Target = { kind, version, namespace, name: isCollection ? '' : name, subresource }
  const hasTable = !kind.traits.subresourcesWithoutTable?.includes(subresource)
  const typed = hasTable ? TYPED_OBJECTS : VIRTUAL_OBJECTS
  const offer = version.type.dialect === 'go' ? typed : UNTYPED_OBJECTS
  return { verb, target, query: info.isOldWatch ? queryOfOldWatch(info) : info.query, offer }
}

/** The parameters that a deprecated watch path stands for. */
function queryOfOldWatch({ query, name }: RequestInfo): URLSearchParams {
  const requested = new URLSearchParams(query)
  requested.set('watch', 'true')
  if (name === '') return requested
  const text = requested.get('fieldSelector') ?? ''
  const selector = parseFieldSelector(text)
  if (!selector.ok) throw badRequest(selector.error)
  if (selector.value.length === 0) requested.set('fieldSelector', `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`)
  else if (requiredField(selector.value, 'metadata.name') !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  return requested
}

/** Verbs on one object need a valid name. */
export function checkName({ verb, target: { name } }: Route): void {
  if (verb !== 'get' && verb !== 'update' && verb !== 'patch' && verb !== 'delete') return
  if (name === '') throw badRequest('name must be provided')
  const errors = checkPathSegment(name)
  if (errors.length > 0) throw badRequest(`Name parameter invalid: ${quote(name)}: ${errors.join(';')}`)
}
