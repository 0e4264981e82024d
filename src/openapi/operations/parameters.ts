// The parameters that requests may carry, and which of them each action understands. The names are what matters:
// clients look them up to learn what the server can do.

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

const PRETTY = query('pretty', 'string', 'If true, JSON is written for people to read.')
const DRY_RUN = query('dryRun', 'string', 'All: do everything but store the result.')
const RESOURCE_VERSION = query('resourceVersion', 'string', 'The version that the answer must show, or be as new as.')
const TIMEOUT = query('timeoutSeconds', 'integer', 'After how many seconds the server ends the request.')

const CONTINUE = query('continue', 'string', 'What the page before said, to get the next one.')
const FIELD_SELECTOR = query('fieldSelector', 'string', 'Picks objects by the values of fields.')
const LABEL_SELECTOR = query('labelSelector', 'string', 'Picks objects by their labels.')
const LIMIT = query('limit', 'integer', 'How many objects a page may have.')
const MATCH = query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.')
const INITIAL_EVENTS = query('sendInitialEvents', 'boolean', 'Whether a watch begins with what is already there.')
const SHARD_SELECTOR = query('shardSelector', 'string', 'Picks a share of the objects, for readers that divide them.')

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
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may send bookmarks: how far it has come.'),
  ...SELECTION,
  query('watch', 'boolean', 'Whether to be told of changes instead of getting a list.'),
]

const WRITE = [
  DRY_RUN,
  query('fieldManager', 'string', 'Who makes the change, for metadata.managedFields.'),
  query('fieldValidation', 'string', 'What becomes of unknown and duplicate fields: Ignore, Warn or Strict.'),
]

const FORCE = query('force', 'boolean', 'Whether an apply takes over fields that others manage.')

const DELETE = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'How long the object is given to end its work; 0 deletes it at once.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Whether to delete an object that cannot be read any more. Nothing that it held is cleaned up.',
  ),
  query('orphanDependents', 'boolean', 'Use propagationPolicy instead.'),
  query('propagationPolicy', 'string', 'What becomes of objects that belong to it: Orphan, Background or Foreground.'),
]

/** Custom kinds document what they share with others a little differently. */
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
  description: 'The namespace that the objects are in.',
}

export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `The name of the ${kind}.`,
})
