// The parameters of requests, and which of them each action accepts. Clients look up their names to find out what the
// server supports.
import type { Type } from '../../types/type.js'
import { describeField } from '../schemas/descriptions.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

export type Action = 'get' | 'list' | 'watch' | 'watchlist' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection'

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})

const PRETTY = query(
  'pretty',
  'string',
  "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).",
)
const DRY_RUN = query(
  'dryRun',
  'string',
  'When present, modifications are not persisted. The only valid value is All: all stages of the request are processed, but nothing is stored.',
)
const RESOURCE_VERSION = query(
  'resourceVersion',
  'string',
  'resourceVersion sets a constraint on what resource versions a request may be served from. Defaults to unset.',
)
const TIMEOUT = query(
  'timeoutSeconds',
  'integer',
  'Timeout for the list/watch call. It limits the duration of the call, regardless of any activity.',
)

const CONTINUE = query(
  'continue',
  'string',
  'The continue token of the previous page, to retrieve the next one. All other parameters should be the same. If the token has expired, the server responds with 410 ResourceExpired.',
)
const FIELD_SELECTOR = query(
  'fieldSelector',
  'string',
  'A selector to restrict the list of returned objects by their fields. Defaults to everything.',
)
const LABEL_SELECTOR = query(
  'labelSelector',
  'string',
  'A selector to restrict the list of returned objects by their labels. Defaults to everything.',
)
const LIMIT = query(
  'limit',
  'integer',
  'The maximum number of objects in a response. If more exist, the continue field of the list metadata is set to a value for the next request.',
)
const MATCH = query(
  'resourceVersionMatch',
  'string',
  'resourceVersionMatch determines how resourceVersion is applied to list calls: Exact or NotOlderThan. Defaults to unset.',
)
const INITIAL_EVENTS = query(
  'sendInitialEvents',
  'boolean',
  'If true, the watch begins with synthetic events for the existing objects, followed by a bookmark; then it continues as a regular watch. Requires resourceVersionMatch.',
)
const SHARD_SELECTOR = query(
  'shardSelector',
  'string',
  'A selector to restrict the list of returned objects to a share of them, for clients that divide the work.',
)

const SELECTION = [
  CONTINUE,
  FIELD_SELECTOR,
  LABEL_SELECTOR,
  LIMIT,
  RESOURCE_VERSION,
  MATCH,
  INITIAL_EVENTS,
  SHARD_SELECTOR,
  TIMEOUT,
]

const LIST = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'allowWatchBookmarks requests watch events with type "BOOKMARK". They carry the resource version that the watch has reached. Ignored if this is not a watch.',
  ),
  ...SELECTION,
  query(
    'watch',
    'boolean',
    'Watch for changes to the described resources and return them as a stream of add, update, and remove notifications. Specify resourceVersion.',
  ),
]

const WRITE = [
  DRY_RUN,
  query(
    'fieldManager',
    'string',
    'fieldManager is a name associated with the actor or entity that is making these changes, for metadata.managedFields. At most 128 printable characters.',
  ),
  query(
    'fieldValidation',
    'string',
    'fieldValidation instructs the server on how to handle unknown and duplicate fields: Ignore drops them, Warn drops them and sends warnings (the default), Strict fails the request.',
  ),
]

const FORCE = query(
  'force',
  'boolean',
  'Force is going to "force" Apply requests: the user takes over conflicting fields that other managers own. Must be unset for other patches.',
)

const DELETE = [
  DRY_RUN,
  query(
    'gracePeriodSeconds',
    'integer',
    'The duration in seconds before the object should be deleted. Zero means delete immediately. Defaults to the value of the object or of its kind.',
  ),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'If true, an object that cannot be decoded from storage is deleted. Finalizers and other cleanup are skipped, which may break workloads.',
  ),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query(
    'propagationPolicy',
    'string',
    'Whether and how garbage collection will be performed: Orphan, Background or Foreground. Defaults to the policy of the kind.',
  ),
]

/** Custom kinds document a few parameters differently. */
export function parametersOf(action: Action, isCustom: boolean): readonly Parameter[] {
  return [PRETTY, ...ownParametersOf(action, isCustom)]
}

function ownParametersOf(action: Action, isCustom: boolean): readonly Parameter[] {
  switch (action) {
    case 'get':
      return isCustom ? [RESOURCE_VERSION] : []
    case 'list':
    case 'watch':
    case 'watchlist':
      return LIST
    case 'deletecollection':
      return isCustom ? LIST : [...SELECTION, ...DELETE]
    case 'post':
    case 'put':
      return WRITE
    case 'patch':
      return [...WRITE, FORCE]
    case 'delete':
      return DELETE
  }
}

export const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'object name and auth scope, such as for teams and projects',
}

export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `name of the ${kind}`,
})

/** The rest of a path, in the paths below a proxy. */
export const subpathParameter: Parameter = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'path to the resource',
}

/** The fields of an options kind, which are parameters of the query: PodExecOptions. A list is sent item by item. */
export const optionParameters = (options: Type): readonly Parameter[] =>
  [...options.fields.values()].flatMap(({ name, type }) => {
    const simple = SIMPLE_TYPES[(type.element ?? type).kind]
    if (name === 'apiVersion' || name === 'kind' || !simple) return []
    return [query(name, simple, describeField(options.name, name) ?? '')]
  })

const SIMPLE_TYPES: Partial<Record<Type['kind'], Parameter['type']>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
}
