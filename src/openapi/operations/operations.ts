// The operations on the resources of a group version, independent of the version of OpenAPI: paths, ids, parameters,
// request bodies and responses.
import { compareTexts } from '../../meta/go/go-text.js'
import type { GroupVersionKind } from '../../meta/group-version.js'
import { DELETE_OPTIONS, definitionOf, PATCH, STATUS, WATCH_EVENT } from '../schemas/definition-names.js'
import { STRING_RESPONSE } from '../schemas/dialect.js'
import {
  type Action,
  nameParameter,
  namespaceParameter,
  type Parameter,
  parametersOf,
  subpathParameter,
} from './parameters.js'
import type { PublishedResource, PublishedVersion } from './published-versions.js'

export interface Operation {
  readonly path: string
  readonly method: 'get' | 'put' | 'post' | 'patch' | 'delete' | 'head' | 'options'
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly action?: Action | 'connect' | undefined
  readonly bodyKind?: GroupVersionKind | undefined
  readonly parameters: readonly Parameter[]
  readonly body?: { readonly definition: string; readonly isRequired: boolean } | undefined
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  /** The definition of the response, by status code. */
  readonly responses: Readonly<Record<string, string>>
}

/** By path, in order of creation. No two resources share a path. `cbor`: whether the server speaks it. */
export const operationsOf = (
  version: PublishedVersion,
  resource: PublishedResource,
  cbor: boolean,
): Map<string, Operation[]> => byPath(spoken(operationsOn(version, resource), cbor))

/** The operations on the group version itself. */
export const ownOperations = (version: PublishedVersion, cbor: boolean): Map<string, Operation[]> =>
  byPath(version.isCustom ? [] : spoken([listOfResources(version)], cbor))

function spoken(operations: readonly Operation[], cbor: boolean): readonly Operation[] {
  if (cbor) return operations
  const plain = (types: readonly string[]): string[] => types.filter(type => !type.includes('cbor'))
  return operations.map(each => ({ ...each, consumes: plain(each.consumes), produces: plain(each.produces) }))
}

/** The operation of a discovery endpoint: `/api`, `/apis`, `/apis/apps`, `/version`. */
export function endpointOperation(path: string, id: string, tag: string, description: string, type: string): Operation {
  return {
    path,
    method: 'get',
    id,
    tag,
    description,
    parameters: [],
    consumes: path === '/version/' ? ['application/json'] : ENDPOINTS,
    produces: path === '/version/' ? ['application/json'] : ENDPOINTS,
    responses: { 200: definitionOf(type) },
  }
}

export function byPath(operations: readonly Operation[]): Map<string, Operation[]> {
  const paths = new Map<string, Operation[]>()
  for (const operation of operations) {
    const existing = paths.get(operation.path)
    if (existing) existing.push(operation)
    else paths.set(operation.path, [operation])
  }
  return paths
}

/** Parameters that all operations on a path have in common are listed once, for the path. */
export function sharedParameters(operations: readonly Operation[]): Parameter[] {
  const [first, ...existing] = operations
  return inOrder(
    (first?.parameters ?? []).filter(({ name }) =>
      existing.every(({ parameters }) => parameters.some(each => each.name === name)),
    ),
  )
}

export const inOrder = (parameters: readonly Parameter[]): Parameter[] =>
  parameters.toSorted((a, b) => compareTexts(a.name, b.name) || compareTexts(a.in, b.in))

// ---- media types

const ENDPOINTS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const CUSTOM = ['application/json', 'application/yaml']
const OBJECTS = [...ENDPOINTS, 'application/cbor']
const STREAMS = [
  ...OBJECTS,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor-seq',
]
const CUSTOM_PATCHES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
const PATCHES = [...CUSTOM_PATCHES, 'application/strategic-merge-patch+json', 'application/apply-patch+cbor']

function producesOf(action: Action, { isCustom, definition }: PublishedResource): readonly string[] {
  if (isCustom) return CUSTOM
  if (definition === STRING_RESPONSE) return ['text/plain', ...OBJECTS]
  return action === 'list' || action === 'watch' || action === 'watchlist' ? STREAMS : OBJECTS
}

function consumesOf(action: Action, isCustom: boolean): readonly string[] {
  if (action === 'patch') return isCustom ? CUSTOM_PATCHES : PATCHES
  return isCustom ? CUSTOM : ['*/*']
}

// ---- operations on a resource

function operationsOn(version: PublishedVersion, resource: PublishedResource): Operation[] {
  const { plural, subresource, namespaced, isCustom, verbs } = resource
  const root = version.group === '' ? `/api/${version.version}` : `/apis/${version.apiVersion}`
  const everywhere = `/${plural}`
  const collection = namespaced ? `/namespaces/{namespace}/${plural}` : everywhere
  const item = `${collection}/{name}${subresource && `/${subresource}`}`
  const on = (path: string, action: Action): Operation => createOperation(version, resource, root + path, action)
  if (resource.connect) return connectOperations(version, resource, root + item, resource.connect)
  const has = (verb: string): boolean => verbs.includes(verb)
  const created = subresource ? item : collection
  return [
    ...(has('list') ? [on(collection, 'list')] : []),
    ...(has('create') ? [on(created, 'post')] : []),
    ...(has('deletecollection') ? [on(collection, 'deletecollection')] : []),
    ...(has('get') ? [on(item, 'get')] : []),
    ...(has('update') ? [on(item, 'put')] : []),
    ...(has('delete') ? [on(item, 'delete')] : []),
    ...(has('patch') ? [on(item, 'patch')] : []),
    ...(has('list') && namespaced ? [on(everywhere, 'list')] : []),
    ...(has('watch') && !isCustom
      ? [
          on(`/watch${collection}`, 'watchlist'),
          on(`/watch${item}`, 'watch'),
          ...(namespaced ? [on(`/watch${everywhere}`, 'watchlist')] : []),
        ]
      : []),
  ]
}

function createOperation(
  version: PublishedVersion,
  resource: PublishedResource,
  path: string,
  action: Action,
): Operation {
  const { isCustom, kind, bodyKind, options = [] } = resource
  return {
    path,
    method: METHODS[action],
    id: idOf(version, resource, path, action),
    tag: tagOf(version),
    description: describe(resource, action),
    action,
    bodyKind,
    parameters: [
      ...(path.includes('{name}') ? [nameParameter(kind)] : []),
      ...(path.includes('{namespace}') ? [namespaceParameter] : []),
      ...parametersOf(action, isCustom),
      ...options,
    ],
    body: bodyOf(resource, action),
    consumes: consumesOf(action, isCustom),
    produces: producesOf(action, resource),
    responses: responsesOf(resource, action),
  }
}

const METHODS: Readonly<Record<Action, Operation['method']>> = {
  get: 'get',
  list: 'get',
  watch: 'get',
  watchlist: 'get',
  post: 'post',
  put: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
}

function bodyOf({ definition, isCustom }: PublishedResource, action: Action): Operation['body'] {
  switch (action) {
    case 'post':
    case 'put':
      return { definition, isRequired: true }
    case 'patch':
      return { definition: PATCH, isRequired: true }
    case 'delete':
      return { definition: DELETE_OPTIONS, isRequired: false }
    case 'deletecollection':
      return isCustom ? undefined : { definition: DELETE_OPTIONS, isRequired: false }
    default:
      return undefined
  }
}

function responsesOf(resource: PublishedResource, action: Action): Operation['responses'] {
  const { definition, listDefinition, deleteResponse, isCustom } = resource
  switch (action) {
    case 'get':
      return { 200: definition }
    case 'list':
      return { 200: listDefinition }
    case 'watch':
    case 'watchlist':
      return { 200: WATCH_EVENT }
    case 'post':
      return { 200: definition, 201: definition, 202: definition }
    case 'put':
      return { 200: definition, 201: definition }
    case 'patch':
      return isCustom ? { 200: definition } : { 200: definition, 201: definition }
    case 'delete':
      return { 200: deleteResponse, 202: deleteResponse }
    case 'deletecollection':
      return { 200: STATUS }
  }
}

/** One operation for each method, on the path of the subresource and on those below it. */
function connectOperations(
  version: PublishedVersion,
  resource: PublishedResource,
  path: string,
  { methods, hasSubpaths }: NonNullable<PublishedResource['connect']>,
): Operation[] {
  const { kind, subresource, bodyKind, options = [] } = resource
  const on = (at: string, method: string, more: readonly Parameter[], suffix: string): Operation => ({
    path: at,
    method: method.toLowerCase() as Operation['method'],
    id: `connect${idPrefix(version)}${raised(method.toLowerCase())}${itemIdOf(resource)}${suffix}`,
    tag: tagOf(version),
    description: `connect ${method} requests to ${subresource} of ${kind}`,
    action: 'connect',
    bodyKind,
    parameters: [
      nameParameter(bodyKind.kind),
      ...(at.includes('{namespace}') ? [namespaceParameter] : []),
      ...more,
      ...options,
    ],
    consumes: ['*/*'],
    produces: ['*/*'],
    responses: { 200: STRING_RESPONSE },
  })
  return methods.flatMap(method => [
    on(path, method, [], ''),
    ...(hasSubpaths ? [on(`${path}/{path}`, method, [subpathParameter], 'WithPath')] : []),
  ])
}

function listOfResources(version: PublishedVersion): Operation {
  const path = version.group === '' ? `/api/${version.version}/` : `/apis/${version.apiVersion}/`
  const id = `get${idPrefix(version)}APIResources`
  return {
    ...endpointOperation(path, id, tagOf(version), 'get available resources', 'meta/v1.APIResourceList'),
    consumes: OBJECTS,
    produces: OBJECTS,
  }
}

// ---- ids and descriptions

const PREFIXES: Readonly<Record<Action, string>> = {
  get: 'read',
  list: 'list',
  watch: 'watch',
  watchlist: 'watch',
  post: 'create',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
}

/** `createCoreV1NamespacedConfigMap`, `listAppsV1DeploymentForAllNamespaces`. */
function idOf(version: PublishedVersion, resource: PublishedResource, path: string, action: Action): string {
  const { kind, subresource, namespaced } = resource
  const isEverywhere = namespaced && !path.includes('{namespace}')
  return [
    PREFIXES[action],
    idPrefix(version),
    action === 'deletecollection' ? 'Collection' : '',
    namespaced && !isEverywhere ? 'Namespaced' : '',
    kind,
    raised(subresource),
    action === 'watchlist' ? 'List' : '',
    isEverywhere ? 'ForAllNamespaces' : '',
  ].join('')
}

/** `NamespacedPodExec`. */
const itemIdOf = ({ kind, subresource, namespaced }: PublishedResource): string =>
  `${namespaced ? 'Namespaced' : ''}${kind}${raised(subresource)}`

const raised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

const idPrefix = ({ group, version }: PublishedVersion): string =>
  identifier(shortGroup(group), true) + identifier(version, true)

/** `core_v1`, `rbacAuthorization_v1`. */
const tagOf = ({ group, version }: PublishedVersion): string =>
  `${identifier(shortGroup(group), false)}_${identifier(version, false)}`

export const groupTag = (group: string): string => identifier(shortGroup(group), false)
export const groupIdPrefix = (group: string): string => identifier(shortGroup(group), true)

const shortGroup = (group: string): string => (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))

/** Removes characters that are not allowed in an identifier, and capitalizes the next letter. */
function identifier(text: string, isRaised: boolean): string {
  let out = ''
  let raise = isRaised
  for (const [i, character] of text.split('').entries()) {
    if (/[a-z_]/i.test(character) || (i > 0 && /\d/.test(character))) {
      out += raise ? character.toUpperCase() : character
      raise = false
    } else raise = true
  }
  return out
}

function describe({ kind, subresource, isCustom }: PublishedResource, action: Action): string {
  const part = subresource && ` ${subresource} of`
  switch (action) {
    case 'get':
      return `read${part} the specified ${kind}`
    case 'list':
      return isCustom ? `list objects of kind ${kind}` : `list or watch objects of kind ${kind}`
    case 'post':
      return `create${part}${withArticle(kind)}`
    case 'put':
      return `replace${part} the specified ${kind}`
    case 'patch':
      return `partially update${part} the specified ${kind}`
    case 'delete':
      return `delete${part}${withArticle(kind)}`
    case 'deletecollection':
      return `delete collection of ${kind}`
    case 'watchlist':
      return `watch changes to a list of ${kind}; deprecated: use the watch parameter of list`
    case 'watch':
      return `watch changes to one ${kind}; deprecated: use the watch and fieldSelector parameters of list`
  }
}

/** Plurals have no article. */
function withArticle(noun: string): string {
  if (noun.endsWith('s') && !noun.endsWith('ss')) return ` ${noun}`
  return /^[aeiou]/i.test(noun) ? ` an ${noun}` : ` a ${noun}`
}
